//! Addresses of logs, and how they are opened.

#[cfg(feature = "etcd")]
use crate::etcd::Etcd;
#[cfg(feature = "object-store")]
use crate::object_store::Objects;
use crate::{Log, LogError, SharedLog, directory::Directory, medium::Medium};
use std::{sync::Arc, time::Duration};

/// How a log is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// How long the opening may take.
    pub timeout: Duration,
    /// Whether a log in a folder that does not exist is an error, and not made.
    pub must_exist: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { timeout: Duration::from_secs(10), must_exist: false }
    }
}

/// Opens the log at an address, which need not exist before.
///
/// - `directory:/path` or a path: a folder, for the processes of one machine
/// - `file:///path`, `memory://`, `s3://bucket/prefix?endpoint=http://...&region=...`: an object store. The keys of S3 are
///   the options `key` and `secret`, or come from the environment, as `AWS_ACCESS_KEY_ID` and so on. `memory://name` is
///   shared in the process, `memory://` is by itself.
/// - `etcd://host:2379,other:2379/prefix`: etcd; `etcd+https://` with TLS
pub fn open(address: &str, options: &Options) -> Result<Arc<dyn SharedLog>, LogError> {
    Ok(Arc::new(Log::open(medium(address, options.must_exist)?, options.timeout)?))
}

/// Opens the medium at an address. A folder is made if needed.
pub fn open_medium(address: &str) -> Result<Box<dyn Medium>, LogError> {
    medium(address, false)
}

fn medium(address: &str, must_exist: bool) -> Result<Box<dyn Medium>, LogError> {
    // The options may hold a secret.
    let shown = address.split('?').next().unwrap_or_default();
    let bad = |why: String| LogError::BadAddress { address: shown.into(), why };
    let folder = |path: &str| -> Result<Box<dyn Medium>, LogError> {
        match must_exist && !Directory::is_at(path.as_ref()) {
            true => Err(bad("there is no log in that folder".into())),
            false => Ok(Box::new(Directory::open(path.as_ref())?)),
        }
    };
    let scheme = address.split_once("://").map(|(scheme, _)| scheme);
    match (scheme, address.strip_prefix("directory:")) {
        (_, Some("")) => Err(bad("the path is missing".into())),
        (_, Some(path)) => folder(path),
        #[cfg(feature = "object-store")]
        (Some("memory" | "file" | "s3"), None) => Ok(Box::new(Objects::open(address).map_err(bad)?)),
        #[cfg(feature = "etcd")]
        (Some("etcd" | "etcd+https"), None) => Ok(Box::new(Etcd::open(address).map_err(bad)?)),
        (Some(scheme), None) => Err(bad(format!("this program was built without {scheme}"))),
        (None, None) if address.is_empty() => Err(bad("it is empty".into())),
        (None, None) => folder(address),
    }
}
