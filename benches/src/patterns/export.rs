//! A social network as files that other databases load.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::queries::QUERIES;
use super::schema::{RELATIONS, REVERSE_INDICES, create_index};
use super::{SocialNetwork, truth};

/// Writes a file of CSV with a header for each relation into a folder, which is made if need be; `counts.txt` with the name of a
/// query and its count on each line; and the scripts: `schema.cozo`, `indices.cozo` (a statement on each line), `q1.cozo` to
/// `q9.cozo`.
pub fn write(network: &SocialNetwork, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for relation in &RELATIONS {
        let columns = relation.columns();
        let mut file = BufWriter::new(File::create(folder.join(relation.name).with_extension("csv"))?);
        writeln!(file, "{}", columns.join(","))?;
        for row in relation.rows(network) {
            let numbers: Vec<String> = row[..columns.len()].iter().map(u32::to_string).collect();
            writeln!(file, "{}", numbers.join(","))?;
        }
        file.flush()?;
    }
    let schema: String = RELATIONS.iter().map(|relation| format!("{{{}}}\n", relation.create())).collect();
    fs::write(folder.join("schema.cozo"), schema)?;
    let indices: String =
        REVERSE_INDICES.iter().map(|(relation, column)| create_index(relation, column) + "\n").collect();
    fs::write(folder.join("indices.cozo"), indices)?;
    for query in &QUERIES {
        fs::write(folder.join(query.name).with_extension("cozo"), query.script.trim_start())?;
    }
    let counts = QUERIES.iter().zip(truth::counts(network)).map(|(query, count)| format!("{} {count}\n", query.name));
    fs::write(folder.join("counts.txt"), counts.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patterns::{Scale, generate};

    #[test]
    fn files_have_all_rows_scripts_and_counts() {
        let network = generate::network(Scale(0.001));
        let folder = tempfile::tempdir().expect("a folder");
        write(&network, folder.path()).expect("files");
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("a file");
        for relation in &RELATIONS {
            let text = read(&format!("{}.csv", relation.name));
            assert_eq!(text.lines().count(), 1 + relation.rows(&network).count(), "{}", relation.name);
        }
        let comments = read("comment.csv");
        let (id, creator, parent) = network.comments().next().expect("a comment");
        let first = format!("{id},{creator},{parent}");
        assert_eq!(comments.lines().take(2).collect::<Vec<_>>(), ["id,creator,reply_of", first.as_str()]);
        assert!(read("schema.cozo").contains("{:create comment {id: Int => creator: Int, reply_of: Int}}\n"));
        assert!(read("indices.cozo").contains("::index create comment:by_reply_of {reply_of}\n"));
        assert!(read("q9.cozo").starts_with("?[count(tag)] :="));
        let counts = truth::counts(&network);
        assert!(read("counts.txt").contains(&format!("q2 {}\n", counts[1])));
    }
}
