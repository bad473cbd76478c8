//! Addresses that are wrong, and what they say.
#![allow(clippy::unwrap_used)]

use cozo_shared_log::{LogError, Options, open};
use miette::Diagnostic;

#[test]
fn wrong_addresses_say_why() {
    for address in ["", "directory:", "gopher://host", "etcd://", "s3://?secret=hidden&no=option", "s3:///prefix"] {
        let error = open(address, &Options::default()).unwrap_err();
        assert!(matches!(error, LogError::BadAddress { .. }), "{address}: {error}");
        assert!(!error.to_string().contains("hidden"));
        assert_eq!(error.code().unwrap().to_string(), "shared_log::bad_address");
        assert!(error.help().is_some());
    }
}

#[cfg(feature = "etcd")]
#[test]
fn nobody_there_is_said_in_time() {
    use std::time::{Duration, Instant};
    let (start, options) = (Instant::now(), Options { timeout: Duration::from_millis(500), ..Options::default() });
    let error = open("etcd://127.0.0.1:1/log", &options).unwrap_err();
    assert!(matches!(error, LogError::Unreachable { .. }), "{error}");
    assert!(start.elapsed() < Duration::from_secs(5));
}
