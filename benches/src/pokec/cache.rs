//! A network in a file: a header with a checksum, then eleven bytes a user and four a friendship.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use flate2::Crc;

use super::{Gender, Network, User};

/// What such a file begins with; the last byte is the version of the format.
const MAGIC: &[u8; 8] = b"POKECNT\x01";

/// The age of those who have given none.
const UNKNOWN: u8 = u8::MAX;

/// Writes a network; the file is there as a whole or not at all.
pub fn write(network: &Network, path: &Path) -> io::Result<()> {
    let folder = path.parent().ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let body = encode(network);
    file.write_all(MAGIC)?;
    file.write_all(&checksum_of(&body).to_le_bytes())?;
    file.write_all(&body)?;
    file.persist(path)?;
    Ok(())
}

/// Reads a network back. A file that is damaged or of another version is an error.
pub fn read(path: &Path) -> io::Result<Network> {
    let bad = |what: &str| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {what}", path.display()));
    let mut file = File::open(path)?;
    let (mut magic, mut checksum, mut body) = ([0; 8], [0; 4], Vec::new());
    file.read_exact(&mut magic)?;
    file.read_exact(&mut checksum)?;
    file.read_to_end(&mut body)?;
    if &magic != MAGIC {
        return Err(bad("no file of this version"));
    }
    if u32::from_le_bytes(checksum) != checksum_of(&body) {
        return Err(bad("the checksum differs"));
    }
    decode(&body).ok_or_else(|| bad("no network"))
}

/// A number that tells networks apart.
pub fn checksum(network: &Network) -> u32 {
    checksum_of(&encode(network))
}

fn checksum_of(body: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(body);
    crc.sum()
}

/// The number of users, the number of each, how many friends each has, the places of the friends; then percentages, genders
/// and ages, a byte each.
fn encode(network: &Network) -> Vec<u8> {
    let users = &network.users;
    let mut body = Vec::with_capacity(4 + users.len() * 11 + network.targets().len() * 4);
    let mut put = |number: u32| body.extend_from_slice(&number.to_le_bytes());
    put(users.len() as u32);
    users.iter().for_each(|user| put(user.uid));
    network.places().for_each(|place| put(network.friends(place).len() as u32));
    network.targets().iter().for_each(|to| put(*to));
    body.extend(users.iter().map(|user| user.completion));
    body.extend(users.iter().map(|user| user.gender.map_or(0, |gender| gender as u8 + 1)));
    body.extend(users.iter().map(|user| user.age.unwrap_or(UNKNOWN)));
    body
}

fn decode(body: &[u8]) -> Option<Network> {
    let (number, rest) = body.split_first_chunk()?;
    let number = u32::from_le_bytes(*number) as usize;
    let (head, rest) = rest.split_at_checked(number.checked_mul(8)?)?;
    let (targets, bytes) = rest.split_at_checked(rest.len().checked_sub(number.checked_mul(3)?)?)?;
    let (uids, degrees) = head.split_at(number * 4);
    let numbers = |bytes: &[u8]| -> Option<Vec<u32>> {
        let (numbers, []) = bytes.as_chunks() else { return None };
        Some(numbers.iter().map(|number| u32::from_le_bytes(*number)).collect())
    };
    let user = |(place, uid): (usize, u32)| User {
        uid,
        completion: bytes[place],
        gender: [None, Some(Gender::Man), Some(Gender::Woman)]
            .get(usize::from(bytes[number + place]))
            .copied()
            .flatten(),
        age: Some(bytes[2 * number + place]).filter(|age| *age != UNKNOWN),
    };
    let users = numbers(uids)?.into_iter().enumerate().map(user).collect();
    Network::from_arrays(users, &numbers(degrees)?, numbers(targets)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pokec::generate;

    #[test]
    fn what_is_written_is_read_and_damage_is_found() -> io::Result<()> {
        let network = generate::network(&"500x2000".parse().expect("a size"));
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("made/for/this/network");
        write(&network, &path)?;
        assert_eq!(read(&path)?, network);
        let mut bytes = std::fs::read(&path)?;
        bytes[40] ^= 1;
        std::fs::write(&path, &bytes)?;
        let error = read(&path).expect_err("a bit is not as it was");
        assert!(error.to_string().contains("checksum"), "{error}");
        std::fs::write(&path, &bytes[..30])?;
        assert!(read(&path).is_err());
        bytes[7] += 1;
        std::fs::write(&path, &bytes)?;
        let error = read(&path).expect_err("another version");
        assert!(error.to_string().contains("version"), "{error}");
        Ok(())
    }
}
