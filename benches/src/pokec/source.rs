//! Where a network comes from: files of the real one, or the generator and its cache.

use std::io;
use std::path::{Path, PathBuf};

use super::{Network, Size, cache, generate, memgraph, snap, text};

/// What SNAP's files are called, without `.gz`.
const SNAP: [&str; 2] = ["soc-pokec-profiles.txt", "soc-pokec-relationships.txt"];

/// A network, and in words where it is from.
pub struct Sourced {
    /// The network.
    pub network: Network,
    /// Where it is from.
    pub origin: String,
}

/// The network of a size from the real files in a folder. Memgraph's are taken before SNAP's, of which a size smaller than
/// the whole takes the users of the first numbers.
pub fn real(size: &Size, folder: &Path) -> io::Result<Sourced> {
    if let Some(path) = memgraph_name(size).and_then(|name| present(folder, name)) {
        let network = memgraph::parse(text::open(&path)?).map_err(|error| about(&path, &error))?;
        return Ok(Sourced { network, origin: path.display().to_string() });
    }
    let [Some(profiles), Some(relationships)] = SNAP.map(|name| present(folder, name)) else {
        let expected = memgraph_name(size).unwrap_or("Memgraph's files, which are of other sizes,");
        let message =
            format!("{} has neither {expected} nor {}, with or without .gz", folder.display(), SNAP.join(" and "));
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    };
    let network = snap::parse(text::open(&profiles)?, text::open(&relationships)?, size.users);
    let network = network.map_err(|error| about(folder, &error))?;
    let origin = format!("{} users of {}", network.users.len(), relationships.display());
    Ok(Sourced { network, origin })
}

/// The generated network of a size, read from a folder if it was made before, otherwise made and written there. A file that
/// cannot be read or written costs time, and is no error.
pub fn generated(size: &Size, folder: &Path) -> Sourced {
    let name = format!("pokec-{}-{}-{}.network", size.users, size.friendships, generate::SEED);
    let path = folder.join(name);
    match cache::read(&path) {
        Ok(network) => return Sourced { network, origin: format!("generated before, {}", path.display()) },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => eprintln!("{error}; the network is generated anew"),
    }
    let network = generate::network(size);
    if let Err(error) = cache::write(&network, &path) {
        eprintln!("the network was not written to {}: {error}", path.display());
    }
    Sourced { network, origin: "generated".to_string() }
}

/// What Memgraph's file of a size is called; its names are one step larger than those here.
fn memgraph_name(size: &Size) -> Option<&'static str> {
    match size.name.as_str() {
        "tiny" => Some("pokec_small_import.cypher"),
        "small" => Some("pokec_medium_import.cypher"),
        "medium" => Some("pokec_large_import.cypher"),
        _ => None,
    }
}

/// The path of a file that is there, plain or compressed.
fn present(folder: &Path, name: &str) -> Option<PathBuf> {
    [folder.join(name), folder.join(format!("{name}.gz"))].into_iter().find(|path| path.is_file())
}

fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn put(folder: &Path, name: &str, content: &str) -> io::Result<()> {
        let file = std::fs::File::create(folder.join(name))?;
        if !name.ends_with(".gz") {
            return (&file).write_all(content.as_bytes());
        }
        let mut encoder = GzEncoder::new(file, Compression::fast());
        encoder.write_all(content.as_bytes())?;
        encoder.finish().map(drop)
    }

    fn tiny() -> Size {
        "tiny".parse().expect("a size")
    }

    #[test]
    fn real_files_are_found_plain_and_compressed() -> io::Result<()> {
        let folder = tempfile::tempdir()?;
        let missing = real(&tiny(), folder.path()).err().expect("nothing is there");
        assert!(missing.to_string().contains("pokec_small_import.cypher"), "{missing}");
        put(folder.path(), "soc-pokec-profiles.txt", "7\t1\t14\t1\ta\tb\tc\t26\n20000\t1\t14\t1\ta\tb\tc\t26\n")?;
        put(folder.path(), "soc-pokec-relationships.txt.gz", "7\t7\n7\t20000\n")?;
        let snap = real(&tiny(), folder.path())?.network;
        assert_eq!((snap.users.len(), snap.targets()), (1, &[0][..]));
        put(folder.path(), "pokec_small_import.cypher.gz", "CREATE (:User {id: 1});\nCREATE (:User {id: 2});\n")?;
        assert_eq!(real(&tiny(), folder.path())?.network.users.len(), 2);
        Ok(())
    }

    #[test]
    fn what_was_generated_is_read_the_next_time() -> io::Result<()> {
        let (folder, size) = (tempfile::tempdir()?, "500x2000".parse().expect("a size"));
        let made = generated(&size, folder.path());
        let read = generated(&size, folder.path());
        assert_eq!(made.network, read.network);
        assert_eq!(made.origin, "generated");
        assert!(read.origin.starts_with("generated before"), "{}", read.origin);
        Ok(())
    }
}
