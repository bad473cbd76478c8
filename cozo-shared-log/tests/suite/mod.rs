//! What every medium has to stand. A test gets a function that opens the same log once more.
#![allow(dead_code)]

#[allow(dead_code)]
pub mod server;

use cozo_shared_log::{Appended, Bounds, Entry, Log, LogError, SharedLog, medium::Medium, testing::Faulty};
use std::{
    collections::HashMap,
    io::{self, Read},
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

pub const SECONDS: Duration = Duration::from_secs(20);

/// Opens a new, empty medium, or the one of that name again.
pub type Open<'a> = &'a (dyn Fn(&str) -> Box<dyn Medium> + Sync);

type Test<'a> = &'a dyn Fn(Open<'_>, &str);

pub fn all(open: Open<'_>) {
    rounds(open, 200);
}

/// All tests. The number of rounds is for servers that are slow.
pub fn rounds(open: Open<'_>, rounds: usize) {
    let tests: &[(&str, Test<'_>)] = &[
        ("order", &order),
        ("exclusive", &|open, name| exclusive(open, name, rounds)),
        ("truncate", &truncate),
        ("truncated-while-read", &|open, name| truncated_while_read(open, name, rounds as u64)),
        ("wakes", &wakes),
        ("blobs", &blobs),
        ("large", &large),
        ("damaged", &damaged),
        ("late", &late),
        ("lost", &|open, name| lost(open, name, rounds * 3 / 4)),
    ];
    for (name, test) in tests {
        let start = Instant::now();
        test(open, name);
        println!("{name}: {:?}", start.elapsed());
    }
}

pub fn log(open: Open<'_>, name: &str) -> Log {
    Log::open(open(name), SECONDS).unwrap()
}

/// All entries that are kept.
pub fn entries(log: &dyn SharedLog) -> Vec<Entry> {
    let mut entries = Vec::<Entry>::new();
    let mut next = log.bounds(SECONDS).unwrap().first;
    loop {
        let more = log.read(next, 1000, SECONDS).unwrap();
        if more.is_empty() {
            return entries;
        }
        for entry in &more {
            assert_eq!(entry.number, next);
            next += 1;
        }
        entries.extend(more);
    }
}

/// Appends at the first number that is free.
pub fn append_somewhere(log: &dyn SharedLog, entry: &[u8]) -> u64 {
    let mut number = log.bounds(SECONDS).unwrap().last + 1;
    while log.append(number, entry, SECONDS).unwrap() == Appended::Taken {
        number += 1;
    }
    number
}

fn order(open: Open<'_>, name: &str) {
    let (one, two) = (log(open, name), log(open, name));
    assert_eq!(one.bounds(SECONDS).unwrap(), Bounds { first: 1, last: 0 });
    assert!(one.read(1, 100, SECONDS).unwrap().is_empty());
    assert!(matches!(one.append(2, b"early", SECONDS), Err(LogError::Gap { number: 2, missing: 1 })));
    assert_eq!(one.append(0, b"zero", SECONDS).unwrap(), Appended::Taken);
    for number in 1..=40_u64 {
        let log = if number % 2 == 0 { &one } else { &two };
        assert_eq!(log.append(number, &number.to_le_bytes(), SECONDS).unwrap(), Appended::Done);
        assert_eq!(two.append(number, b"again", SECONDS).unwrap(), Appended::Taken);
    }
    assert!(matches!(two.append(42, b"early", SECONDS), Err(LogError::Gap { number: 42, missing: 41 })));
    let all = entries(&log(open, name));
    assert_eq!(all.len(), 40);
    assert!(all.iter().all(|entry| entry.bytes == entry.number.to_le_bytes()));
    assert_eq!(one.read(7, 0, SECONDS).unwrap().len(), 1);
    assert!(one.read(u64::MAX, usize::MAX, Duration::MAX).unwrap().is_empty());
    assert_eq!(one.wait(u64::MAX, Duration::ZERO).unwrap(), 40);
    assert!(matches!(one.append(u64::MAX, b"far", SECONDS), Err(LogError::Gap { missing: 41, .. })));
    assert_eq!(one.append(41, b"", SECONDS).unwrap(), Appended::Done);
    assert_eq!(one.read(41, 100, SECONDS).unwrap(), [Entry { number: 41, bytes: Vec::new() }]);
}

/// Four appenders at once: each acknowledged entry is there once, under the number that was acknowledged.
fn exclusive(open: Open<'_>, name: &str, rounds: usize) {
    let done = Mutex::new(HashMap::new());
    thread::scope(|scope| {
        for thread in 0..4 {
            let (log, done) = (log(open, name), &done);
            scope.spawn(move || {
                for index in 0..rounds {
                    let entry = format!("{thread}.{index}");
                    let number = append_somewhere(&log, entry.as_bytes());
                    assert!(done.lock().unwrap().insert(number, entry).is_none());
                }
            });
        }
    });
    let (all, done) = (entries(&log(open, name)), done.into_inner().unwrap());
    assert_eq!(all.len(), 4 * rounds);
    assert!(all.iter().all(|entry| done[&entry.number].as_bytes() == entry.bytes));
}

fn truncate(open: Open<'_>, name: &str) {
    let (one, two) = (log(open, name), log(open, name));
    for number in 1..=30 {
        one.append(number, b"entry", SECONDS).unwrap();
    }
    one.truncate(11, SECONDS).unwrap();
    one.truncate(5, SECONDS).unwrap();
    assert_eq!(two.bounds(SECONDS).unwrap(), Bounds { first: 11, last: 30 });
    assert!(matches!(two.read(10, 100, SECONDS), Err(LogError::Truncated { first: 11 })));
    assert_eq!(two.read(11, 10_000, SECONDS).unwrap().len(), 20);
    two.truncate(1000, SECONDS).unwrap();
    assert_eq!(one.bounds(SECONDS).unwrap(), Bounds { first: 31, last: 30 });
    assert_eq!(one.append(30, b"late", SECONDS).unwrap(), Appended::Taken);
    let new = log(open, name);
    assert_eq!(new.bounds(SECONDS).unwrap(), Bounds { first: 31, last: 30 });
    assert_eq!(new.append(31, b"next", SECONDS).unwrap(), Appended::Done);
    assert_eq!(one.bounds(SECONDS).unwrap(), Bounds { first: 31, last: 31 });
}

/// One appends, one truncates what is 20 entries old, one reads: it sees all in order but for what was truncated.
fn truncated_while_read(open: Open<'_>, name: &str, rounds: u64) {
    let (appender, truncator, reader) = (log(open, name), log(open, name), log(open, name));
    thread::scope(|scope| {
        scope.spawn(move || {
            for number in 1..=rounds {
                appender.append(number, &number.to_le_bytes(), SECONDS).unwrap();
            }
        });
        scope.spawn(move || {
            let mut last = 0;
            while last < rounds {
                last = truncator.wait(last, SECONDS).unwrap();
                truncator.truncate(last.saturating_sub(20), SECONDS).unwrap();
            }
        });
        let mut next = 1;
        while next <= rounds {
            reader.wait(next - 1, SECONDS).unwrap();
            match reader.read(next, 100, SECONDS) {
                Ok(entries) => entries.iter().for_each(|entry| {
                    assert_eq!((entry.number, &entry.bytes[..]), (next, &next.to_le_bytes()[..]));
                    next += 1;
                }),
                Err(LogError::Truncated { first }) if first > next => next = first,
                Err(error) => panic!("{error}"),
            }
        }
    });
}

fn wakes(open: Open<'_>, name: &str) {
    let (one, two) = (log(open, name), log(open, name));
    assert_eq!(two.wait(0, Duration::ZERO).unwrap(), 0);
    let waiter = thread::spawn(move || two.wait(0, SECONDS));
    let start = Instant::now();
    one.append(1, b"entry", SECONDS).unwrap();
    assert_eq!(waiter.join().unwrap().unwrap(), 1);
    assert!(start.elapsed() < SECONDS / 2);
    one.append(2, b"entry", SECONDS).unwrap();
    assert_eq!(one.wait(0, SECONDS).unwrap(), 2);
}

fn blob(log: &dyn SharedLog, name: &str) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    log.get_blob(name, SECONDS).unwrap()?.read_to_end(&mut content).unwrap();
    Some(content)
}

/// Ends with an error after some bytes.
struct Broken(usize);

impl Read for Broken {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.0);
        self.0 -= length;
        buffer[..length].fill(7);
        if length == 0 { Err(io::Error::other("broken")) } else { Ok(length) }
    }
}

fn blobs(open: Open<'_>, name: &str) {
    let log = log(open, name);
    let large: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    log.put_blob("checkpoint/7", &mut &large[..], SECONDS).unwrap();
    log.put_blob("checkpoint/8", &mut &b"eight"[..], SECONDS).unwrap();
    log.put_blob("other", &mut &b""[..], SECONDS).unwrap();
    assert!(blob(&log, "checkpoint/7").unwrap() == large);
    assert_eq!(blob(&log, "other").unwrap(), b"");
    assert_eq!(log.list_blobs("check", SECONDS).unwrap(), ["checkpoint/7", "checkpoint/8"]);
    log.put_blob("checkpoint/7", &mut Broken(2_000_000), SECONDS).unwrap_err();
    log.put_blob("checkpoint/9", &mut Broken(100), SECONDS).unwrap_err();
    assert!(blob(&log, "checkpoint/7").unwrap() == large);
    log.put_blob("checkpoint/7", &mut &b"seven"[..], SECONDS).unwrap();
    assert_eq!(blob(&log, "checkpoint/7").unwrap(), b"seven");
    log.remove_blob("checkpoint/8", SECONDS).unwrap();
    log.remove_blob("checkpoint/8", SECONDS).unwrap();
    assert_eq!(log.list_blobs("", SECONDS).unwrap(), ["checkpoint/7", "other"]);
    assert!(blob(&log, "checkpoint/9").is_none() && blob(&log, "checkpoint").is_none());
    for name in ["", "/x", "a//b", "../first", "a/.b", "ü"] {
        assert!(matches!(log.put_blob(name, &mut &b""[..], SECONDS), Err(LogError::BadName { .. })), "{name}");
    }
}

fn large(open: Open<'_>, name: &str) {
    let log = log(open, name);
    let entry: Vec<u8> = (0..5_000_000_u32).map(|n| (n * 7 % 253) as u8).collect();
    assert_eq!(log.append(1, &entry, SECONDS).unwrap(), Appended::Done);
    assert_eq!(log.append(2, b"small", SECONDS).unwrap(), Appended::Done);
    let read = entries(&log);
    assert!(read.len() == 2 && read[0].bytes == entry && read[1].bytes == b"small");
    log.truncate(2, SECONDS).unwrap();
    assert!(open(name).list_blobs("chunks/", Instant::now() + SECONDS).unwrap().is_empty());
}

/// A slot that is no frame, as after a fault of the disk.
fn damaged(open: Open<'_>, name: &str) {
    let log = log(open, name);
    log.append(1, b"good", SECONDS).unwrap();
    let medium = open(name);
    let mut frame = medium.slots(1, 1, Instant::now() + SECONDS).unwrap().remove(0);
    medium.create(2, &frame, Instant::now() + SECONDS).unwrap();
    *frame.last_mut().unwrap() ^= 1;
    medium.create(3, &frame, Instant::now() + SECONDS).unwrap();
    assert_eq!(log.read(1, 1000, SECONDS).unwrap().len(), 1);
    for number in 2..=3 {
        assert!(matches!(log.read(number, 1000, SECONDS), Err(LogError::Damaged { number: n, .. }) if n == number));
    }
    assert_eq!(log.append(3, b"other", SECONDS).unwrap(), Appended::Taken);
}

/// An append that arrives after its number was removed is never read.
fn late(open: Open<'_>, name: &str) {
    let log = log(open, name);
    for number in 1..=5 {
        log.append(number, b"entry", SECONDS).unwrap();
    }
    let (medium, until) = (open(name), Instant::now() + SECONDS);
    let frame = medium.slots(3, 1, until).unwrap().remove(0);
    log.truncate(6, SECONDS).unwrap();
    let created = medium.create(3, &frame, until).unwrap();
    assert!(!medium.knows_removed() || created != cozo_shared_log::medium::Created::New);
    for log in [log, Log::open(open(name), SECONDS).unwrap()] {
        assert_eq!(log.bounds(SECONDS).unwrap(), Bounds { first: 6, last: 5 });
        assert!(matches!(log.read(3, 1, SECONDS), Err(LogError::Truncated { first: 6 })));
    }
}

/// Two appenders whose questions and answers get lost: what was acknowledged is there once, in its place, and no more.
fn lost(open: Open<'_>, name: &str, rounds: usize) {
    let done = Mutex::new(HashMap::new());
    thread::scope(|scope| {
        for thread in 0..2 {
            let log = Log::open(Box::new(Faulty::new(open(name), 42 + thread, 4)), SECONDS).unwrap();
            let done = &done;
            scope.spawn(move || {
                for index in 0..rounds {
                    let entry = format!("{thread}.{index}");
                    let number = append_somewhere(&log, entry.as_bytes());
                    assert!(done.lock().unwrap().insert(number, entry).is_none());
                }
            });
        }
    });
    let (all, done) = (entries(&log(open, name)), done.into_inner().unwrap());
    assert_eq!(all.len(), 2 * rounds);
    assert!(all.iter().all(|entry| done[&entry.number].as_bytes() == entry.bytes));
}
