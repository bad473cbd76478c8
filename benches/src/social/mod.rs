//! A social network that many use at once: some write posts and comments while others read the newest of both.
//!
//! The workload is that of the benchmark of agdb: 10 writers of 100 posts each, 10 of 100 comments, 100 readers of posts and
//! 100 of comments who each read ten of them a hundred times; with a pause between two actions, or without.

#[cfg(feature = "peers")]
pub mod agdb;
pub mod database;

use std::sync::atomic::{AtomicI64, Ordering};
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

/// How many posts or comments a reader asks for.
pub const PAGE: usize = 10;

/// What is written: about as long as in the benchmark of agdb.
const TEXT: &str = "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of \
    foolishness, it was the epoch of belief, it was the epoch of incredulity, it was the season of Light, it was the season of \
    Darkness, it was the spring of hope, it was the winter of despair, we had everything before us, we had nothing before us";

/// A post or a comment, as it is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number.
    pub id: i64,
    /// Its text.
    pub body: String,
}

/// A database with the network. Users have the numbers below [`Scenario::users`].
pub trait Network: Sync {
    /// A user writes a post.
    fn write_post(&self, author: i64, post: &Entry);

    /// A user comments on the newest post.
    fn write_comment(&self, author: i64, comment: &Entry);

    /// The newest posts, at most [`PAGE`].
    fn read_posts(&self) -> Vec<Entry>;

    /// The newest comments on the newest post, at most [`PAGE`].
    fn read_comments(&self) -> Vec<Entry>;

    /// How many posts and comments there are.
    fn counts(&self) -> [usize; 2];
}

/// How many do how much.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// So many write posts, and so many comments.
    pub writers: usize,
    /// So many read posts, and so many comments.
    pub readers: usize,
    /// How often each of them acts.
    pub actions: usize,
    /// How long each waits after an action.
    pub pause: Duration,
}

impl Scenario {
    /// How many users there are: all who write.
    pub fn users(&self) -> usize {
        self.writers * 2
    }
}

/// What one kind of users did.
#[derive(Clone, Debug)]
pub struct Role {
    /// What they did.
    pub name: &'static str,
    /// The shortest action.
    pub shortest: Duration,
    /// The average action.
    pub average: Duration,
    /// The longest action.
    pub longest: Duration,
    /// From the start of all to the end of the last of these.
    pub total: Duration,
}

/// A post or comment with a number.
pub fn entry(id: i64) -> Entry {
    Entry { id, body: format!("{id}: {TEXT}") }
}

/// Runs the scenario on a network with its users and nothing else. Panics if a reader is given what nobody wrote, or if
/// something is lost.
pub fn run(network: &dyn Network, scenario: &Scenario) -> Vec<Role> {
    // Nobody has to wait for something to comment on.
    network.write_post(0, &entry(0));
    let (posts, comments) = (AtomicI64::new(1), AtomicI64::new(0));
    let next = |ids: &AtomicI64| entry(ids.fetch_add(1, Ordering::Relaxed));
    let writers = scenario.writers as i64;
    let roles: [(&'static str, usize, &Action); 4] = [
        ("write post", scenario.writers, &|user| network.write_post(user, &next(&posts))),
        ("write comment", scenario.writers, &|user| network.write_comment(writers + user, &next(&comments))),
        ("read posts", scenario.readers, &|_| check(&network.read_posts())),
        ("read comments", scenario.readers, &|_| check(&network.read_comments())),
    ];
    let start = Instant::now();
    let roles = scope(|scope| {
        let started = roles.map(|(name, number, action)| {
            let user = |user| scope.spawn(move || act(scenario, action, user as i64));
            (name, (0..number).map(user).collect::<Vec<_>>())
        });
        started.map(|(name, users)| {
            let done: Vec<_> = users.into_iter().map(|user| user.join().expect("no user fails")).collect();
            role(name, start, &done)
        })
    });
    let written = scenario.writers * scenario.actions;
    assert_eq!(network.counts(), [written + 1, written], "posts or comments were lost");
    assert_eq!(network.read_posts().len(), PAGE.min(written + 1), "posts are there, and not read");
    roles.to_vec()
}

type Action<'a> = dyn Fn(i64) + Sync + 'a;

/// The durations of all actions of one user, and when the last was over.
fn act(scenario: &Scenario, action: &Action<'_>, user: i64) -> (Vec<Duration>, Instant) {
    let durations = (0..scenario.actions).map(|_| {
        let start = Instant::now();
        action(user);
        let duration = start.elapsed();
        if !scenario.pause.is_zero() {
            sleep(scenario.pause);
        }
        duration
    });
    (durations.collect(), Instant::now())
}

fn role(name: &'static str, start: Instant, users: &[(Vec<Duration>, Instant)]) -> Role {
    let actions = || users.iter().flat_map(|(durations, _)| durations).copied();
    Role {
        name,
        shortest: actions().min().unwrap_or_default(),
        average: actions().sum::<Duration>() / (actions().count().max(1) as u32),
        longest: actions().max().unwrap_or_default(),
        total: users.iter().map(|(_, end)| *end - start).max().unwrap_or_default(),
    }
}

/// Panics unless these were written, each once.
fn check(entries: &[Entry]) {
    assert!(entries.len() <= PAGE, "more was read than asked for: {entries:?}");
    for (place, found) in entries.iter().enumerate() {
        assert_eq!(*found, entry(found.id), "nobody wrote this");
        assert!(!entries[..place].contains(found), "read twice: {found:?}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{ENGINES, open};

    const SMALL: Scenario = Scenario { writers: 3, readers: 2, actions: 20, pause: Duration::ZERO };

    #[test]
    fn every_engine_keeps_what_was_written() {
        for engine in ENGINES {
            let folder = tempfile::tempdir().expect("a folder");
            let db = open(engine, folder.path()).expect("a database");
            let network = database::Database::new(db, SMALL.users());
            let roles = run(&network, &SMALL);
            assert_eq!(roles.len(), 4);
            let newest: Vec<i64> = network.read_posts().iter().map(|post| post.id).collect();
            assert_eq!(newest, (51..=60).rev().collect::<Vec<_>>(), "{engine}");
        }
    }

    #[test]
    fn comments_belong_to_the_newest_post() {
        let network = database::Database::new(cozo::DbInstance::default(), 2);
        network.write_post(0, &entry(0));
        network.write_comment(1, &entry(0));
        assert_eq!(network.read_comments(), [entry(0)]);
        network.write_post(0, &entry(1));
        assert_eq!(network.read_comments(), []);
        (1..15).for_each(|id| network.write_comment(1, &entry(id)));
        assert_eq!(network.read_comments(), (5..15).rev().map(entry).collect::<Vec<_>>());
    }

    #[cfg(feature = "peers")]
    #[test]
    fn agdb_keeps_what_was_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let network = agdb::Agdb::in_memory(&folder.path().join("none"), SMALL.users());
        assert_eq!(run(&network, &SMALL).len(), 4);
        assert_eq!(network.read_posts().len(), PAGE);
    }
}
