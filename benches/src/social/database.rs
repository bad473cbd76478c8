//! The social network in the database.

use std::collections::BTreeMap;

use cozo::{DataValue, DbInstance, NamedRows, ScriptMutability};

use super::{Entry, Network};
use crate::{count, run};

const CREATE: &str = "{?[id, name, email] := id in int_range($users), name = 'user ' ++ to_string(id),
                                             email = to_string(id) ++ '@example.org'
                       :create user {id: Int => name: String, email: String}}
                      {:create post {id: Int => author: Int, title: String, body: String}}
                      {:create comment {post: Int, id: Int => author: Int, body: String}}";

const WRITE_POST: &str = "?[id, author, title, body] <- [[$id, $author, 'A post', $body]]
                          :put post {id => author, title, body}";

const WRITE_COMMENT: &str = "newest[max(id)] := *post{id}
                             ?[post, id, author, body] := newest[post], id = $id, author = $author, body = $body
                             :put comment {post, id => author, body}";

const READ_POSTS: &str = "?[id, body, title, author] := *post{id, author, title, body} :sort -id :limit 10";

const READ_COMMENTS: &str = "newest[max(id)] := *post{id}
                             ?[id, body, author] := newest[post], *comment{post, id, author, body} :sort -id :limit 10";

/// A database with the network.
pub struct Database(DbInstance);

impl Database {
    /// A network of so many users, without posts.
    pub fn new(db: DbInstance, users: usize) -> Database {
        run(&db, CREATE, &[("users", users as i64)]);
        Database(db)
    }

    fn write(&self, script: &str, author: i64, entry: &Entry) {
        let parameters = [("id", entry.id.into()), ("author", author.into()), ("body", entry.body.as_str().into())];
        let parameters: BTreeMap<String, DataValue> =
            parameters.into_iter().map(|(name, value)| (name.to_string(), value)).collect();
        let written = self.0.run_script(script, parameters, ScriptMutability::Mutable);
        written.unwrap_or_else(|error| panic!("{error:?}\n{script}"));
    }

    fn read(&self, script: &str) -> Vec<Entry> {
        let result = self.0.run_script(script, BTreeMap::new(), ScriptMutability::Immutable);
        entries(result.unwrap_or_else(|error| panic!("{error:?}\n{script}")))
    }
}

impl Network for Database {
    fn write_post(&self, author: i64, post: &Entry) {
        self.write(WRITE_POST, author, post);
    }

    fn write_comment(&self, author: i64, comment: &Entry) {
        self.write(WRITE_COMMENT, author, comment);
    }

    fn read_posts(&self) -> Vec<Entry> {
        self.read(READ_POSTS)
    }

    fn read_comments(&self) -> Vec<Entry> {
        self.read(READ_COMMENTS)
    }

    fn counts(&self) -> [usize; 2] {
        ["?[count(id)] := *post{id}", "?[count(id)] := *comment{id}"].map(|script| count(&self.0, script) as usize)
    }
}

/// Rows that begin with a number and a text.
fn entries(rows: NamedRows) -> Vec<Entry> {
    let entry = |row: Vec<DataValue>| match (row[0].get_int(), row[1].get_str()) {
        (Some(id), Some(body)) => Entry { id, body: body.to_string() },
        _ => panic!("no entry: {row:?}"),
    };
    rows.into_iter().map(entry).collect()
}
