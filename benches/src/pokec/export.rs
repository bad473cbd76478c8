//! A network as files that other databases load.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::Network;

/// Writes `users.csv` (`uid,cmpl_pct,gender,age`, empty where unknown) and `friends.csv` (`fr,to`) into a folder, which is made
/// if need be.
pub fn write_csv(network: &Network, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut users = BufWriter::new(File::create(folder.join("users.csv"))?);
    writeln!(users, "uid,cmpl_pct,gender,age")?;
    for user in &network.users {
        let gender = user.gender.map_or("", |gender| gender.name());
        let age = user.age.map_or(String::new(), |age| age.to_string());
        writeln!(users, "{},{},{gender},{age}", user.uid, user.completion)?;
    }
    users.flush()?;
    let mut friends = BufWriter::new(File::create(folder.join("friends.csv"))?);
    writeln!(friends, "fr,to")?;
    network.friendships().try_for_each(|(from, to)| writeln!(friends, "{from},{to}"))?;
    friends.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pokec::{Gender, User};

    #[test]
    fn what_is_unknown_is_empty() {
        let users = vec![
            User { uid: 3, completion: 7, gender: None, age: None },
            User { uid: 9, completion: 50, gender: Some(Gender::Woman), age: Some(31) },
        ];
        let network = Network::new(users, vec![(9, 3)]).expect("a network");
        let folder = tempfile::tempdir().expect("a folder");
        write_csv(&network, folder.path()).expect("files");
        let read = |name| fs::read_to_string(folder.path().join(name)).expect("a file");
        assert_eq!(read("users.csv"), "uid,cmpl_pct,gender,age\n3,7,,\n9,50,woman,31\n");
        assert_eq!(read("friends.csv"), "fr,to\n9,3\n");
    }
}
