//! A log in etcd, by its JSON gateway.
//!
//! ```text
//! prefix/entries/00000000000000012345   a slot: created in a transaction if it is missing and the one before is there
//!        first                          the marker: raised in the transaction that removes the slots
//!        blobs/NAME  chunks/NAME        "TOKEN PARTS": which parts make up the blob
//!        parts/TOKEN/000000             a part of a blob
//! ```
//!
//! All endpoints are members of one cluster. A request goes to the one that answered last, and on to the next if it fails.

use crate::{
    etcd_client::Client,
    medium::{Created, Failure, Medium, Outcome},
};
use serde_json::{Value, json};
use std::{
    io::{Cursor, Read},
    time::Instant,
};

/// What etcd takes in a request is 1.5 MB, in base64.
const LARGEST: usize = 1 << 20;
const PAGE: u64 = 64;

/// A prefix in etcd with a log.
#[derive(Debug)]
pub struct Etcd {
    name: String,
    prefix: String,
    client: Client,
}

impl Etcd {
    /// The log at an address. The error says what is wrong with it.
    pub fn open(address: &str) -> Result<Etcd, String> {
        let (scheme, rest) = address.split_once("://").unwrap_or(("etcd", address));
        let scheme = if scheme == "etcd" { "http" } else { "https" };
        let (hosts, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let endpoints: Vec<_> =
            hosts.split(',').filter(|host| !host.is_empty()).map(|host| format!("{scheme}://{host}")).collect();
        if endpoints.is_empty() {
            return Err("it names no host".into());
        }
        Ok(Etcd {
            name: address.into(),
            prefix: format!("{}/", prefix.trim_end_matches('/')),
            client: Client::new(endpoints),
        })
    }

    fn key(&self, name: &str) -> String {
        self.client.encode(format!("{}{name}", self.prefix).as_bytes())
    }

    fn slot(&self, number: u64) -> String {
        self.key(&format!("entries/{number:020}"))
    }

    /// The smallest key after all that start so.
    fn end(&self, start: &str) -> String {
        let mut key = format!("{}{start}", self.prefix).into_bytes();
        // It ends with a slash, so there is no carry.
        if let Some(last) = key.last_mut() {
            *last += 1;
        }
        self.client.encode(&key)
    }

    fn get(&self, name: &str, until: Instant) -> Outcome<Option<Vec<u8>>> {
        let found = self.client.range(&json!({ "key": self.key(name) }), until)?;
        Ok(found.into_iter().next().map(|(_, value)| value))
    }

    fn create_if(&self, number: u64, frame: &[u8], condition: Value, until: Instant) -> Outcome<bool> {
        let slot = self.slot(number);
        let missing = json!({ "key": slot, "target": "CREATE", "result": "EQUAL", "create_revision": "0" });
        let put = json!({ "request_put": { "key": slot, "value": self.client.encode(frame) } });
        self.client.transaction(&json!({ "compare": [missing, condition], "success": [put] }), until)
    }

    /// The marker is as it was read, or still missing.
    fn marker_is(&self, first: u64) -> Value {
        let key = self.key("first");
        match first {
            1 => json!({ "key": key, "target": "CREATE", "result": "EQUAL", "create_revision": "0" }),
            _ => json!({ "key": key, "target": "VALUE", "result": "EQUAL",
                         "value": self.client.encode(first.to_string().as_bytes()) }),
        }
    }

    /// Which parts make up a blob: a token, and how many there are.
    fn manifest(&self, path: &str, until: Instant) -> Outcome<Option<(String, usize)>> {
        let Some(text) = self.get(path, until)? else { return Ok(None) };
        let text = String::from_utf8_lossy(&text).into_owned();
        match text.split_once(' ').map(|(token, parts)| (token, parts.parse())) {
            Some((token, Ok(parts))) => Ok(Some((token.into(), parts))),
            _ => Err(Failure::Refused(format!("the key {path} holds no list of parts"))),
        }
    }

    fn remove_parts(&self, token: &str, until: Instant) -> Outcome<()> {
        let parts = format!("parts/{token}/");
        self.client.delete(&json!({ "key": self.key(&parts), "range_end": self.end(&parts) }), until)
    }

    fn put_parts(&self, token: &str, content: &mut dyn Read, until: Instant) -> Outcome<usize> {
        for index in 0.. {
            let mut part = Vec::new();
            let read = (&mut *content).take(LARGEST as u64).read_to_end(&mut part);
            if read.map_err(|error| Failure::Refused(error.to_string()))? == 0 {
                return Ok(index);
            }
            self.client.put(&self.key(&format!("parts/{token}/{index:06}")), &part, until)?;
        }
        Ok(0)
    }

    fn parts(&self, token: &str, count: usize, until: Instant) -> Outcome<Option<Vec<u8>>> {
        let mut content = Vec::new();
        for index in 0..count {
            match self.get(&format!("parts/{token}/{index:06}"), until)? {
                Some(part) => content.extend_from_slice(&part),
                None => return Ok(None),
            }
        }
        Ok(Some(content))
    }
}

impl Medium for Etcd {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn largest_slot(&self) -> usize {
        LARGEST
    }

    fn knows_removed(&self) -> bool {
        true
    }

    fn create(&self, number: u64, frame: &[u8], until: Instant) -> Outcome<Created> {
        let before = self.slot(number.saturating_sub(1));
        let there = json!({ "key": before, "target": "CREATE", "result": "GREATER", "create_revision": "0" });
        if self.create_if(number, frame, there, until)? {
            return Ok(Created::New);
        }
        // The first that is kept has none before it.
        if self.first(until)? == number && self.create_if(number, frame, self.marker_is(number), until)? {
            return Ok(Created::New);
        }
        let taken = self.exists(number, until)? || number < self.first(until)?;
        Ok(if taken { Created::Exists } else { Created::Gap })
    }

    fn slots(&self, from: u64, most_bytes: usize, until: Instant) -> Outcome<Vec<Vec<u8>>> {
        let (mut slots, mut bytes, mut next) = (Vec::new(), 0, from);
        let mut limit = if most_bytes <= 1 { 1 } else { 2 };
        loop {
            let range =
                json!({ "key": self.slot(next), "range_end": self.end("entries/"), "limit": limit.to_string() });
            let found = self.client.range(&range, until)?;
            let end = (found.len() as u64) < limit;
            for (key, slot) in found {
                if !key.ends_with(format!("{next:020}").as_bytes()) {
                    return Ok(slots);
                }
                (bytes, next) = (bytes + slot.len(), next + 1);
                slots.push(slot);
            }
            if end || bytes >= most_bytes {
                return Ok(slots);
            }
            limit = (((most_bytes - bytes) * slots.len() / bytes.max(1)) as u64).clamp(1, PAGE);
        }
    }

    fn exists(&self, number: u64, until: Instant) -> Outcome<bool> {
        Ok(!self.client.range(&json!({ "key": self.slot(number), "keys_only": true }), until)?.is_empty())
    }

    fn find_last(&self, until: Instant) -> Outcome<u64> {
        let range = json!({ "key": self.key("entries/"), "range_end": self.end("entries/"), "limit": "1",
                            "sort_order": "DESCEND", "sort_target": "KEY", "keys_only": true });
        let found = self.client.range(&range, until)?;
        let number = found.first().and_then(|(key, _)| std::str::from_utf8(key).ok()?.rsplit('/').next()?.parse().ok());
        Ok(number.unwrap_or(0))
    }

    fn last(&self, known: u64, until: Instant) -> Outcome<u64> {
        // If all was removed, what is known is the last.
        Ok(self.find_last(until)?.max(known))
    }

    fn wait(&self, number: u64, until: Instant) -> Outcome<()> {
        let slot = self.slot(number);
        // A question for the present takes a round trip, which is given time beyond the wait.
        let patience = until + std::time::Duration::from_secs(5);
        let (there, revision) = self.client.revision(&slot, patience)?;
        if there || Instant::now() >= until {
            return Ok(());
        }
        self.client.watch(&slot, revision + 1, until)
    }

    fn first(&self, until: Instant) -> Outcome<u64> {
        match self.get("first", until)? {
            None => Ok(1),
            Some(text) => String::from_utf8_lossy(&text)
                .parse()
                .map_err(|_| Failure::Refused("the key `first` holds no number".into())),
        }
    }

    fn remove_before(&self, first: u64, until: Instant) -> Outcome<()> {
        loop {
            let old = self.first(until)?;
            if old >= first {
                return Ok(());
            }
            let text = self.client.encode(first.to_string().as_bytes());
            let put = json!({ "request_put": { "key": self.key("first"), "value": text } });
            let range = json!({ "key": self.key("entries/"), "range_end": self.slot(first) });
            let delete = json!({ "request_delete_range": range });
            let change = json!({ "compare": [self.marker_is(old)], "success": [put, delete] });
            if self.client.transaction(&change, until)? {
                return Ok(());
            }
        }
    }

    fn put_blob(&self, path: &str, content: &mut dyn Read, until: Instant) -> Outcome<()> {
        let old = self.manifest(path, until)?;
        let token = format!("{:032x}", rand::random::<u128>());
        let stored = self
            .put_parts(&token, content, until)
            .and_then(|parts| self.client.put(&self.key(path), format!("{token} {parts}").as_bytes(), until));
        match stored {
            // What is left of the old one does no harm.
            Ok(()) => old.map_or(Ok(()), |(token, _)| self.remove_parts(&token, until).or(Ok(()))),
            // A lost answer may have been to the list of parts, which then needs them.
            Err(Failure::Lost(why)) => Err(Failure::Lost(why)),
            Err(why) => self.remove_parts(&token, until).and(Err(why)),
        }
    }

    fn get_blob(&self, path: &str, until: Instant) -> Outcome<Option<Box<dyn Read + Send>>> {
        // If a part is missing, the blob was replaced meanwhile.
        for _ in 0..10 {
            let Some((token, count)) = self.manifest(path, until)? else { return Ok(None) };
            if let Some(content) = self.parts(&token, count, until)? {
                return Ok(Some(Box::new(Cursor::new(content))));
            }
        }
        Err(Failure::Refused(format!("parts of {path} are missing")))
    }

    fn list_blobs(&self, folder: &str, until: Instant) -> Outcome<Vec<String>> {
        let range = json!({ "key": self.key(folder), "range_end": self.end(folder), "keys_only": true });
        let found = self.client.range(&range, until)?;
        let paths = found.iter().filter_map(|(key, _)| std::str::from_utf8(key).ok()?.strip_prefix(&self.prefix));
        Ok(paths.map(String::from).collect())
    }

    fn remove_blob(&self, path: &str, until: Instant) -> Outcome<()> {
        let old = self.manifest(path, until)?;
        self.client.delete(&json!({ "key": self.key(path) }), until)?;
        old.map_or(Ok(()), |(token, _)| self.remove_parts(&token, until))
    }
}
