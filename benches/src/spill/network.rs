//! The social network of the bench `pokec` as files, which a process reads without holding the network, and who is three
//! steps away from whom.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use super::{Inputs, Sizes};
use crate::pokec::source::{Sourced, generated};
use crate::pokec::{Network, Size};

/// Friendships: two numbers of users of four bytes each, little-endian.
const FRIENDS: &str = "friends.bin";

/// Start users, likewise a number each.
const STARTS: &str = "starts.bin";

/// How many pairs of a start user and a user three steps away there are, as text.
const PAIRS: &str = "pairs.txt";

/// Chooses start users and writes all files into the folder of the inputs. The network itself is kept in a cache folder.
pub fn prepare(inputs: &Inputs, cache: &Path) -> io::Result<()> {
    let Sizes { users, friendships, pairs, .. } = inputs.sizes;
    let size: Size = format!("{users}x{friendships}").parse().map_err(io::Error::other)?;
    let Sourced { network, .. } = generated(&size, cache);
    let (starts, pairs) = starts(&network, pairs);
    fs::create_dir_all(&inputs.folder)?;
    write(&inputs.folder.join(FRIENDS), network.friendships().map(|(from, to)| [from, to]))?;
    write(&inputs.folder.join(STARTS), starts.into_iter().map(|start| [start]))?;
    fs::write(inputs.folder.join(PAIRS), pairs.to_string())
}

/// The friendships that [`prepare`] has written.
pub fn friends(inputs: &Inputs) -> io::Result<impl Iterator<Item = [u64; 2]> + use<>> {
    read(&inputs.folder.join(FRIENDS))
}

/// The start users that [`prepare`] has written, ascending.
pub fn start_users(inputs: &Inputs) -> io::Result<impl Iterator<Item = [u64; 1]> + use<>> {
    read(&inputs.folder.join(STARTS))
}

/// How many pairs [`prepare`] has counted.
pub fn pairs(inputs: &Inputs) -> io::Result<i64> {
    fs::read_to_string(inputs.folder.join(PAIRS))?.parse().map_err(io::Error::other)
}

/// The numbers of users who have at least so many pairs together with those three steps away, and how many they have.
fn starts(network: &Network, wanted: u64) -> (Vec<u32>, u64) {
    let users = network.users.len();
    let mut steps = Steps { network, seen: vec![0; users], mark: 0 };
    let (mut starts, mut pairs) = (vec![], 0);
    // Popular users have no special numbers: any user is as good as another.
    for place in network.places() {
        if pairs >= wanted {
            break;
        }
        let reached = (0..3).fold(vec![place], |level, _| steps.next(&level));
        if !reached.is_empty() {
            starts.push(network.user(place).uid);
            pairs += reached.len() as u64;
        }
    }
    (starts, pairs)
}

/// Finds distinct friends of several users.
struct Steps<'a> {
    network: &'a Network,
    /// For each user the mark of the step that has found the user last.
    seen: Vec<u32>,
    mark: u32,
}

impl Steps<'_> {
    /// The places of all friends of users.
    fn next(&mut self, level: &[u32]) -> Vec<u32> {
        self.mark += 1;
        let mut found = vec![];
        for friend in level.iter().flat_map(|from| self.network.friends(*from)) {
            let seen = &mut self.seen[*friend as usize];
            if *seen != self.mark {
                *seen = self.mark;
                found.push(*friend);
            }
        }
        found
    }
}

fn write<const N: usize>(path: &Path, rows: impl Iterator<Item = [u32; N]>) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    rows.flatten().try_for_each(|number| file.write_all(&number.to_le_bytes()))?;
    file.flush()
}

fn read<const N: usize>(path: &Path) -> io::Result<impl Iterator<Item = [u64; N]> + use<N>> {
    let mut file = BufReader::new(File::open(path).map_err(|error| about(path, &error))?);
    let mut number = move || {
        let mut bytes = [0; 4];
        file.read_exact(&mut bytes).ok().map(|()| u64::from(u32::from_le_bytes(bytes)))
    };
    Ok(std::iter::from_fn(move || {
        let mut row = [0; N];
        for place in &mut row {
            *place = number()?;
        }
        Some(row)
    }))
}

fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pokec::generate;
    use crate::pokec::truth::reached;
    use crate::spill::Scale;

    #[test]
    fn start_users_have_the_pairs_that_are_counted() {
        let network = generate::network(&"1000x12000".parse().expect("a size"));
        let (starts, pairs) = starts(&network, 5000);
        let place = |uid: &u32| network.place_of(*uid).expect("a user");
        let counts: Vec<usize> = starts.iter().map(|uid| reached(&network, place(uid), 3).len()).collect();
        assert_eq!(counts.iter().sum::<usize>() as u64, pairs);
        assert!(pairs >= 5000 && pairs - (counts[counts.len() - 1] as u64) < 5000, "{counts:?}");
    }

    #[test]
    fn files_give_the_network_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let inputs = Inputs::new(Scale(0.001), folder.path());
        prepare(&inputs, folder.path()).expect("files");
        let friends: Vec<[u64; 2]> = friends(&inputs).expect("a file").collect();
        assert_eq!(friends.len(), inputs.sizes.friendships as usize);
        assert!(friends.is_sorted() && friends.iter().all(|[from, to]| from != to));
        let starts = start_users(&inputs).expect("a file").count();
        assert!(starts > 10 && pairs(&inputs).expect("a number") >= inputs.sizes.pairs as i64, "{starts}");
    }
}
