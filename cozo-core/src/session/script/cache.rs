//! The cache of parsed scripts, by their text.
//!
//! The scripts used last are found without a lock: each has a place by the hash of its text. All others are in a cache of limited
//! size. A script that is outdated is not found, so it is parsed again.

use std::hash::BuildHasher;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use rustc_hash::FxBuildHasher;

use super::cached_ref::CachedRef;
use super::statements::CompiledScript;
use crate::diag::{locate, show_in};
use crate::txn::TxnError;

/// The approximate number of cached scripts.
const CACHED_SCRIPTS: usize = 1000;

/// The budget of the script cache.
const CACHED_SCRIPTS_BYTES: usize = 64 << 20;

/// Longer scripts are not cached, since they are more often data than queries.
const MAX_CACHED_SCRIPT_BYTES: usize = 64 * 1024;

/// The approximate size of a cached script for each byte of its text: the syntax tree and the plan.
const KEPT_BYTES: usize = 50;

/// The number of scripts that are found without a lock.
const RECENT_SCRIPTS: usize = 64;

/// Longer scripts are found with a lock, which is a small part of the time to run them.
const MAX_RECENT_SCRIPT_BYTES: usize = 8 * 1024;

/// A cached script.
pub struct CachedScript {
    /// The text.
    pub source: Arc<str>,
    /// The script, parsed.
    pub script: CompiledScript,
    /// What it probably does not mean, in words.
    pub warnings: Vec<String>,
    /// The approximate size of the script, if it is large. It counts against the memory of the query.
    pub bytes: usize,
}

impl CachedScript {
    /// An error of running the script, with its place in the text.
    pub fn explain(&self, report: miette::Report) -> miette::Report {
        let is_unknown = report.downcast_ref::<TxnError>().is_some_and(TxnError::is_unknown_outcome);
        let label = if is_unknown { "this may have been applied" } else { "nothing of this was applied" };
        let report = locate(report, self.script.place(&self.source), label);
        show_in(report, &self.source)
    }
}

/// The size of a script in the cache.
#[derive(Clone)]
struct ScriptBytes;

impl Weighter<Arc<str>, Arc<CachedScript>> for ScriptBytes {
    fn weight(&self, source: &Arc<str>, _: &Arc<CachedScript>) -> u64 {
        (source.len() * KEPT_BYTES).max(1) as u64
    }
}

/// The parsed scripts of a database.
pub struct ScriptCache {
    scripts: Cache<Arc<str>, Arc<CachedScript>, ScriptBytes>,
    /// The scripts used last, by the hash of their text. Loading one takes no lock.
    recent: [ArcSwapOption<CachedScript>; RECENT_SCRIPTS],
}

impl Default for ScriptCache {
    fn default() -> Self {
        ScriptCache {
            scripts: Cache::with_weighter(CACHED_SCRIPTS, CACHED_SCRIPTS_BYTES as u64, ScriptBytes),
            recent: std::array::from_fn(|_| ArcSwapOption::empty()),
        }
    }
}

impl ScriptCache {
    /// A script that has been parsed before.
    pub fn find(&self, source: &str) -> Option<CachedRef<'_, CachedScript>> {
        let recent = self.place(source);
        if let Some(script) = CachedRef::of(recent)
            && *script.source == *source
            && !script.script.is_outdated()
        {
            return Some(script);
        }
        let script = self.scripts.get(source).filter(|script| !script.script.is_outdated())?;
        if source.len() <= MAX_RECENT_SCRIPT_BYTES {
            recent.store(Some(script.clone()));
        }
        Some(script.into())
    }

    /// Caches a script, unless its text is long.
    pub fn insert(&self, script: &Arc<CachedScript>) {
        let source = &script.source;
        if source.len() <= MAX_CACHED_SCRIPT_BYTES {
            self.scripts.insert(source.clone(), script.clone());
        }
        if source.len() <= MAX_RECENT_SCRIPT_BYTES {
            self.place(source).store(Some(script.clone()));
        }
    }

    fn place(&self, source: &str) -> &ArcSwapOption<CachedScript> {
        &self.recent[FxBuildHasher.hash_one(source) as usize % RECENT_SCRIPTS]
    }
}
