//! Pokec as SNAP gives it: `soc-pokec-profiles.txt`, of which eight columns between tabs are looked at (user_id, public,
//! completion_percentage, gender, region, last_login, registration, AGE), and `soc-pokec-relationships.txt`, two numbers of
//! users a line.

use std::io::{self, BufRead};

use super::text::{each_line, number};
use super::{Gender, Network, User};

/// Reads both files. Of users with a greater number than `last_uid`, and of their friendships, nothing is kept.
pub fn parse(profiles: impl BufRead, relationships: impl BufRead, last_uid: u32) -> io::Result<Network> {
    let (mut users, mut friendships) = (Vec::new(), Vec::new());
    each_line(profiles, |line| {
        let user = user(line).ok_or("not a profile")?;
        users.extend((user.uid <= last_uid).then_some(user));
        Ok(())
    })?;
    each_line(relationships, |line| {
        let (from, to) = friendship(line).ok_or("not two numbers of users")?;
        friendships.extend((from <= last_uid && to <= last_uid).then_some((from, to)));
        Ok(())
    })?;
    Network::new(users, friendships).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Who has not given an age has age 0 or null, and the percentage of a profile may be null, too.
fn user(line: &[u8]) -> Option<User> {
    let mut columns = line.split(|byte| *byte == b'\t');
    let mut next = || columns.next();
    let (uid, _public, completion, gender) = (next()?, next()?, next()?, next()?);
    let (_region, _last_login, _registration, age) = (next()?, next()?, next()?, next()?);
    Some(User {
        uid: number(uid)?,
        completion: optional(completion)?.unwrap_or(0),
        gender: match optional::<u8>(gender)? {
            Some(1) => Some(Gender::Man),
            Some(0) => Some(Gender::Woman),
            None => None,
            Some(_) => return None,
        },
        age: optional(age)?.filter(|age| *age > 0),
    })
}

/// A number, or nothing where the text is `null`.
fn optional<T: std::str::FromStr>(text: &[u8]) -> Option<Option<T>> {
    if text == b"null" { Some(None) } else { Some(Some(number(text)?)) }
}

fn friendship(line: &[u8]) -> Option<(u32, u32)> {
    let mut columns = line.split(|byte| *byte == b'\t');
    Some((number(columns.next()?)?, number(columns.next()?)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The region of the second has bytes that are no UTF-8.
    const PROFILES: &[u8] =
        b"1\t1\t14\t1\tzilinsky kraj, zilina\t2012-05-25 11:20:00.0\t2005-04-03 00:00:00.0\t26\t185 cm\n\
        2\t1\t62\t0\tko\xb9ice\t2012-05-25 23:08:00.0\t2007-11-30 00:00:00.0\t0\tnull\n\
        16\t1\tnull\tnull\tnull\tnull\tnull\tnull\tnull\n";

    #[test]
    fn files_become_a_network() -> io::Result<()> {
        let network = parse(PROFILES, &b"16\t2\n1\t16\n1\t2\n"[..], u32::MAX)?;
        let user = |uid, completion, gender, age| User { uid, completion, gender, age };
        let expected =
            [user(1, 14, Some(Gender::Man), Some(26)), user(2, 62, Some(Gender::Woman), None), user(16, 0, None, None)];
        assert_eq!(network.users, expected);
        assert_eq!(network.friendships().collect::<Vec<_>>(), [(1, 2), (1, 16), (16, 2)]);
        Ok(())
    }

    #[test]
    fn a_part_has_the_users_of_the_first_numbers() -> io::Result<()> {
        let network = parse(PROFILES, &b"16\t2\n1\t16\n1\t2\n"[..], 2)?;
        assert_eq!(network.users.len(), 2);
        assert_eq!(network.friendships().collect::<Vec<_>>(), [(1, 2)]);
        Ok(())
    }

    #[test]
    fn other_lines_are_errors_with_their_number() {
        for (profiles, relationships, complaint) in [
            (&b"1\t1\t14\n"[..], &b""[..], "line 1: not a profile: 1\t1\t14"),
            (b"1\t1\t14\t7\ta\tb\tc\t26\n", b"", "line 1: not a profile"),
            (PROFILES, b"1\t2\n1\n", "line 2: not two numbers of users: 1"),
            (PROFILES, b"1\t3\n", "there is no user 3"),
        ] {
            let error = parse(profiles, relationships, u32::MAX).expect_err("the line is wrong").to_string();
            assert!(error.starts_with(complaint), "{error}");
        }
    }
}
