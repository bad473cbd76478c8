//! Pokec as Memgraph gives it to be imported: one statement of Cypher a line, which makes a user or a friendship.
//!
//! ```cypher
//! CREATE (:User {id: 1, completion_percentage: 14, gender: "man", age: 26});
//! MATCH (n:User {id: 1}), (m:User {id: 13}) CREATE (n)-[e: Friend]->(m);
//! ```

use std::io::{self, BufRead};

use super::text::{each_line, number};
use super::{Gender, Network, User};

/// Reads statements. Empty lines, comments and statements about indices are left aside.
pub fn parse(text: impl BufRead) -> io::Result<Network> {
    let (mut users, mut friendships) = (Vec::new(), Vec::new());
    each_line(text, |line| {
        if let Some(properties) = between(line, b"CREATE (:User {", b"});") {
            users.push(user(properties).ok_or("not the properties of a user")?);
        } else if let Some(statement) = line.strip_prefix(b"MATCH ") {
            friendships.push(friendship(statement).ok_or("not a friendship")?);
        } else if !is_aside(line) {
            return Err("neither a user nor a friendship".to_string());
        }
        Ok(())
    })?;
    Network::new(users, friendships).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

fn is_aside(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"//") || line.starts_with(b"CREATE INDEX") || line == b";"
}

fn between<'a>(text: &'a [u8], begin: &[u8], end: &[u8]) -> Option<&'a [u8]> {
    text.strip_prefix(begin)?.strip_suffix(end)
}

/// From `id: 1, completion_percentage: 14, gender: "man", age: 26`; only `id` must be there.
fn user(properties: &[u8]) -> Option<User> {
    let (mut uid, mut user) = (None, User { uid: 0, completion: 0, gender: None, age: None });
    for property in properties.split(|byte| *byte == b',') {
        let colon = property.iter().position(|byte| *byte == b':')?;
        let value = property[colon + 1..].trim_ascii();
        match property[..colon].trim_ascii() {
            b"id" => uid = Some(number(value)?),
            b"completion_percentage" => user.completion = number(value)?,
            b"gender" => user.gender = gender(value)?,
            b"age" if value != b"null" => user.age = Some(number(value)?),
            _ => {}
        }
    }
    Some(User { uid: uid?, ..user })
}

fn gender(value: &[u8]) -> Option<Option<Gender>> {
    match value {
        b"\"man\"" => Some(Some(Gender::Man)),
        b"\"woman\"" => Some(Some(Gender::Woman)),
        b"null" => Some(None),
        _ => None,
    }
}

/// From `(n:User {id: 1}), (m:User {id: 13}) CREATE (n)-[e: Friend]->(m);`
fn friendship(statement: &[u8]) -> Option<(u32, u32)> {
    let users = between(statement, b"(n:User {id: ", b"}) CREATE (n)-[e: Friend]->(m);")?;
    let end = users.iter().position(|byte| *byte == b'}')?;
    let to = users[end..].strip_prefix(b"}), (m:User {id: ")?;
    Some((number(&users[..end])?, number(to)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = r#"CREATE INDEX ON :User(id);
CREATE (:User {id: 1, completion_percentage: 14, gender: "man", age: 26});
CREATE (:User {id: 2, completion_percentage: 62, gender: "woman", age: 0});
CREATE (:User {id: 16, completion_percentage: 8});

MATCH (n:User {id: 1}), (m:User {id: 16}) CREATE (n)-[e: Friend]->(m);
MATCH (n:User {id: 16}), (m:User {id: 2}) CREATE (n)-[e: Friend]->(m);
"#;

    #[test]
    fn statements_become_a_network() -> io::Result<()> {
        let network = parse(SAMPLE.as_bytes())?;
        let user = |uid, completion, gender, age| User { uid, completion, gender, age };
        let expected = [
            user(1, 14, Some(Gender::Man), Some(26)),
            user(2, 62, Some(Gender::Woman), Some(0)),
            user(16, 8, None, None),
        ];
        assert_eq!(network.users, expected);
        assert_eq!(network.friendships().collect::<Vec<_>>(), [(1, 16), (16, 2)]);
        Ok(())
    }

    #[test]
    fn other_lines_are_errors_with_their_number() {
        for (line, complaint) in [
            ("CREATE (:User {id: x});", "line 10: not the properties of a user"),
            ("CREATE (:User {age: 5});", "line 10: not the properties of a user"),
            ("MATCH (n:User {id: 1}) CREATE (n)-[e: Friend]->(m);", "line 10: not a friendship"),
            ("<html>", "line 10: neither a user nor a friendship: <html>"),
        ] {
            let text = format!("{SAMPLE}\n\n{line}\n");
            let error = parse(text.as_bytes()).expect_err("the line is wrong").to_string();
            assert!(error.starts_with(complaint), "{error}");
        }
        let stranger = SAMPLE.replace("id: 16, ", "id: 17, ");
        assert!(parse(stranger.as_bytes()).is_err());
    }
}
