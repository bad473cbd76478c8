//! The social network in agdb, laid out as its documentation does: posts are neighbours of an element `posts`, comments of
//! their posts, and both of their authors.

use std::path::Path;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use agdb::{DbAny, DbError, DbId, QueryBuilder, QueryId, QueryResult};

use super::{Entry, Network, PAGE};

/// A database with the network. It locks itself for writers, as agdb asks programs with threads to.
pub struct Agdb {
    db: RwLock<DbAny>,
    users: Vec<DbId>,
}

impl Agdb {
    /// A network of so many users in a file that is mapped into memory.
    pub fn mapped(file: &Path, users: usize) -> Agdb {
        Agdb::new(DbAny::new_mapped(&file.to_string_lossy()).expect("agdb opens"), users)
    }

    /// A network of so many users in memory. If the file is there, agdb begins with what it holds.
    pub fn in_memory(file: &Path, users: usize) -> Agdb {
        Agdb::new(DbAny::new_memory(&file.to_string_lossy()).expect("agdb opens"), users)
    }

    fn new(mut db: DbAny, users: usize) -> Agdb {
        let user = |id| vec![("name", format!("user {id}")).into(), ("email", format!("{id}@example.org")).into()];
        let users: Result<QueryResult, DbError> = db.transaction_mut(|transaction| {
            transaction.exec_mut(QueryBuilder::insert().nodes().aliases(["users", "posts"]).query())?;
            let users: Vec<_> = (0..users).map(user).collect();
            let users = transaction.exec_mut(QueryBuilder::insert().nodes().values(users).query())?;
            transaction.exec_mut(QueryBuilder::insert().edges().from("users").to(users.ids()).query())?;
            Ok(users)
        });
        Agdb { db: RwLock::new(db), users: users.expect("the users are made").ids() }
    }

    fn reader(&self) -> RwLockReadGuard<'_, DbAny> {
        self.db.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> RwLockWriteGuard<'_, DbAny> {
        self.db.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn author(&self, author: i64) -> DbId {
        self.users[author as usize]
    }

    /// The newest entries below another one.
    fn read(&self, parent: QueryId) -> Vec<Entry> {
        let newest = QueryBuilder::select().search().from(parent).limit(PAGE as u64).where_().neighbor().query();
        let found = self.reader().exec(newest).expect("agdb answers");
        found.elements.iter().map(|element| entry(&element.values)).collect()
    }
}

impl Network for Agdb {
    fn write_post(&self, author: i64, post: &Entry) {
        let values = vec![("id", post.id).into(), ("title", "A post").into(), ("body", post.body.as_str()).into()];
        let author = self.author(author);
        let written: Result<(), DbError> = self.writer().transaction_mut(|transaction| {
            let post = transaction.exec_mut(QueryBuilder::insert().nodes().values([values]).query())?.elements[0].id;
            let from = [QueryId::from("posts"), author.into()];
            let values = [vec![], vec![("authored", 1_u64).into()]];
            transaction.exec_mut(QueryBuilder::insert().edges().from(from).to(post).values(values).query())?;
            Ok(())
        });
        written.expect("agdb writes a post");
    }

    fn write_comment(&self, author: i64, comment: &Entry) {
        let values = vec![("id", comment.id).into(), ("body", comment.body.as_str()).into()];
        let author = self.author(author);
        let written: Result<(), DbError> = self.writer().transaction_mut(|transaction| {
            let post = transaction.exec(newest_post())?.elements[0].id;
            let comment = transaction.exec_mut(QueryBuilder::insert().nodes().values([values]).query())?.elements[0].id;
            let values = [vec![], vec![("commented", 1_u64).into()]];
            transaction
                .exec_mut(QueryBuilder::insert().edges().from([post, author]).to(comment).values(values).query())?;
            Ok(())
        });
        written.expect("agdb writes a comment");
    }

    fn read_posts(&self) -> Vec<Entry> {
        self.read("posts".into())
    }

    fn read_comments(&self) -> Vec<Entry> {
        let post = self.reader().exec(newest_post()).expect("agdb answers").elements[0].id;
        self.read(post.into())
    }

    fn counts(&self) -> [usize; 2] {
        let edges = |key: &str| {
            let of_authors = QueryBuilder::search().elements().where_().edge().and().keys(key).query();
            self.reader().exec(of_authors).expect("agdb answers").result as usize
        };
        [edges("authored"), edges("commented")]
    }
}

/// Neighbours are found from the newest to the oldest.
fn newest_post() -> agdb::SearchQuery {
    QueryBuilder::search().from("posts").limit(1).where_().neighbor().query()
}

fn entry(values: &[agdb::DbKeyValue]) -> Entry {
    let value = |name: &str| values.iter().find(|pair| pair.key == name.into()).map(|pair| &pair.value);
    match (value("id").map(|id| id.to_i64()), value("body").map(|body| body.string())) {
        (Some(Ok(id)), Some(Ok(body))) => Entry { id, body: body.clone() },
        _ => panic!("no entry: {values:?}"),
    }
}
