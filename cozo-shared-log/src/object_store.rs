//! A log in an object store: S3, memory, or files. An object is created only if there is none under its name.
//!
//! ```text
//! prefix/entries/00000000000000012345   a slot
//!        first/00000000000000012000     the marker is the largest of these
//!        blobs/...  chunks/...          blobs
//! ```

use crate::medium::{Created, Failure, Medium, Outcome, poll};
use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, future, stream::BoxStream};
use object_store::{
    Error, ObjectStore, ObjectStoreExt, PutMode, PutOptions, WriteMultipart, local::LocalFileSystem, memory::InMemory,
    path::Path, prefix::PrefixStore,
};
use std::{
    collections::BTreeMap,
    future::Future,
    io::{self, Read},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::{runtime, time};

/// How many slots are read at once, since each costs a round trip.
const AT_ONCE: u64 = 16;
const CHUNK: usize = 8 << 20;

/// An object store with a log.
#[derive(Debug)]
pub struct Objects {
    name: String,
    store: Arc<dyn ObjectStore>,
    runtime: Arc<runtime::Runtime>,
}

impl Objects {
    /// The store at an address. The error says what is wrong with it.
    pub fn open(address: &str) -> Result<Objects, String> {
        let (scheme, rest) = address.split_once("://").unwrap_or(("", address));
        let store: Arc<dyn ObjectStore> = match scheme {
            "memory" => memory(rest)?,
            "file" => Arc::new(files(rest)?),
            _ => s3(rest)?,
        };
        let name = address.split('?').next().unwrap_or_default();
        Objects::new(name, store)
    }

    /// A log in a store that is there.
    pub fn new(name: &str, store: Arc<dyn ObjectStore>) -> Result<Objects, String> {
        let runtime =
            runtime::Builder::new_multi_thread().worker_threads(1).thread_name("shared-log").enable_all().build();
        let runtime = Arc::new(runtime.map_err(|error| error.to_string())?);
        Ok(Objects { name: name.into(), store, runtime })
    }

    fn run<T>(&self, until: Instant, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        let timed = async { time::timeout_at(until.into(), work).await };
        self.runtime
            .block_on(timed)
            .unwrap_or_else(|late| Err(Error::Generic { store: "shared log", source: late.into() }))
    }

    /// The numbers in the names of a folder.
    fn numbers(&self, folder: &str, until: Instant) -> Outcome<Vec<u64>> {
        let list = self.store.list(Some(&Path::from(folder)));
        let numbers = list.try_filter_map(|object| {
            future::ready(Ok(object.location.filename().and_then(|name| name.parse::<u64>().ok())))
        });
        self.run(until, numbers.try_collect()).map_err(failure)
    }
}

/// The store of that name in this process, or a new one without a name.
fn memory(name: &str) -> Result<Arc<dyn ObjectStore>, String> {
    static NAMED: Mutex<BTreeMap<String, Arc<InMemory>>> = Mutex::new(BTreeMap::new());
    if name.is_empty() {
        return Ok(Arc::new(InMemory::new()));
    }
    let mut named = NAMED.lock().map_err(|error| error.to_string())?;
    Ok(named.entry(name.into()).or_default().clone())
}

fn files(path: &str) -> Result<LocalFileSystem, String> {
    std::fs::create_dir_all(path).map_err(|error| error.to_string())?;
    Ok(LocalFileSystem::new_with_prefix(path).map_err(|error| error.to_string())?.with_fsync(true))
}

#[cfg(feature = "s3")]
fn s3(rest: &str) -> Result<Arc<dyn ObjectStore>, String> {
    use object_store::{RetryConfig, aws::AmazonS3Builder};
    // It fails if the program chose another before, which does as well.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    if bucket.is_empty() {
        return Err("the bucket is missing, as in s3://bucket/prefix".into());
    }
    // The log itself repeats what was lost, as it knows what may be repeated.
    let retry = RetryConfig { max_retries: 0, ..RetryConfig::default() };
    let mut builder = AmazonS3Builder::from_env().with_bucket_name(bucket).with_retry(retry);
    for option in options.split('&').filter(|option| !option.is_empty()) {
        builder = match option.split_once('=') {
            Some(("endpoint", value)) => builder.with_endpoint(value).with_allow_http(value.starts_with("http://")),
            Some(("region", value)) => builder.with_region(value),
            Some(("key", value)) => builder.with_access_key_id(value),
            Some(("secret", value)) => builder.with_secret_access_key(value),
            _ => return Err(format!("the option {option} is unknown")),
        };
    }
    let store = builder.build().map_err(|error| error.to_string())?;
    Ok(Arc::new(PrefixStore::new(store, prefix)))
}

#[cfg(not(feature = "s3"))]
fn s3(rest: &str) -> Result<Arc<dyn ObjectStore>, String> {
    // The prefix of a store in memory would be its only use here.
    let _ = PrefixStore::new(InMemory::new(), rest);
    Err("this program was built without S3".into())
}

impl Medium for Objects {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn largest_slot(&self) -> usize {
        64 << 20
    }

    fn create(&self, number: u64, frame: &[u8], until: Instant) -> Outcome<Created> {
        let (path, frame) = (slot(number), Bytes::copy_from_slice(frame));
        let put = self.store.put_opts(&path, frame.into(), PutOptions::from(PutMode::Create));
        match self.run(until, put) {
            Ok(_) => Ok(Created::New),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(Created::Exists),
            Err(error) => Err(failure(error)),
        }
    }

    fn slots(&self, from: u64, most_bytes: usize, until: Instant) -> Outcome<Vec<Vec<u8>>> {
        let (mut slots, mut bytes, mut next) = (Vec::new(), 0, from);
        // The first read tells how large entries are; a question for one entry asks for no more.
        let mut count = if most_bytes <= 1 { 1 } else { 2 };
        loop {
            let reads = (next..next + count).map(|number| async move {
                match self.store.get(&slot(number)).await {
                    Ok(found) => found.bytes().await.map(Some),
                    Err(Error::NotFound { .. }) => Ok(None),
                    Err(error) => Err(error),
                }
            });
            for slot in self.run(until, future::try_join_all(reads)).map_err(failure)? {
                let Some(slot) = slot else { return Ok(slots) };
                bytes += slot.len();
                slots.push(slot.to_vec());
                if bytes >= most_bytes {
                    return Ok(slots);
                }
            }
            next += count;
            count = ((most_bytes - bytes) * slots.len() / bytes.max(1)).clamp(1, AT_ONCE as usize) as u64;
        }
    }

    fn exists(&self, number: u64, until: Instant) -> Outcome<bool> {
        match self.run(until, self.store.head(&slot(number))) {
            Ok(_) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(failure(error)),
        }
    }

    fn find_last(&self, until: Instant) -> Outcome<u64> {
        Ok(self.numbers("entries", until)?.into_iter().max().unwrap_or(0))
    }

    fn wait(&self, number: u64, until: Instant) -> Outcome<()> {
        // Each question costs money, and a round trip that is given time beyond the wait.
        poll(Duration::from_millis(250), until, || self.exists(number, until + Duration::from_secs(5)))
    }

    fn first(&self, until: Instant) -> Outcome<u64> {
        Ok(self.numbers("first", until)?.into_iter().max().unwrap_or(1))
    }

    fn remove_before(&self, first: u64, until: Instant) -> Outcome<()> {
        let remove = |folder: &'static str, numbers: Vec<u64>| {
            let paths = futures_util::stream::iter(numbers).map(move |number| async move {
                match self.store.delete(&Path::from(format!("{folder}/{number:020}"))).await {
                    Err(Error::NotFound { .. }) | Ok(()) => Ok(()),
                    Err(error) => Err(error),
                }
            });
            self.run(until, paths.buffer_unordered(AT_ONCE as usize).try_collect::<()>()).map_err(failure)
        };
        let marker = Path::from(format!("first/{first:020}"));
        self.run(until, self.store.put(&marker, first.to_string().into_bytes().into())).map_err(failure)?;
        let lower = |folder| -> Outcome<Vec<u64>> {
            Ok(self.numbers(folder, until)?.into_iter().filter(|&number| number < first).collect())
        };
        remove("entries", lower("entries")?)?;
        remove("first", lower("first")?)
    }

    fn put_blob(&self, path: &str, content: &mut dyn Read, until: Instant) -> Outcome<()> {
        let path = Path::from(path);
        let mut chunk = Vec::new();
        let mut fill = move |chunk: &mut Vec<u8>| {
            chunk.clear();
            content.take(CHUNK as u64).read_to_end(chunk).map_err(|error| Failure::Refused(error.to_string()))
        };
        if fill(&mut chunk)? < CHUNK {
            return self.run(until, self.store.put(&path, chunk.into())).map(drop).map_err(failure);
        }
        let upload = self.run(until, self.store.put_multipart(&path)).map_err(failure)?;
        let mut upload = WriteMultipart::new_with_chunk_size(upload, CHUNK);
        let mut written = Ok(CHUNK);
        while let Ok(1..) = written {
            // The parts are sent by tasks, which start in the runtime.
            let sent = async {
                upload.write(&chunk);
                upload.wait_for_capacity(4).await
            };
            written = self.run(until, sent).map_err(failure).and_then(|()| fill(&mut chunk));
        }
        match written {
            Ok(_) => self.run(until, upload.finish()).map(drop).map_err(failure),
            Err(why) => {
                // Parts that stay behind are removed by the store's own rules.
                let _ = self.run(until, upload.abort());
                Err(why)
            }
        }
    }

    fn get_blob(&self, path: &str, until: Instant) -> Outcome<Option<Box<dyn Read + Send>>> {
        let patience = until.saturating_duration_since(Instant::now());
        match self.run(until, self.store.get(&Path::from(path))) {
            Ok(found) => {
                let (runtime, parts) = (self.runtime.clone(), found.into_stream());
                Ok(Some(Box::new(Content { runtime, parts, part: Bytes::new(), patience })))
            }
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failure(error)),
        }
    }

    fn list_blobs(&self, folder: &str, until: Instant) -> Outcome<Vec<String>> {
        let list = self.store.list(Some(&Path::from(folder)));
        self.run(until, list.map_ok(|object| object.location.to_string()).try_collect()).map_err(failure)
    }

    fn remove_blob(&self, path: &str, until: Instant) -> Outcome<()> {
        match self.run(until, self.store.delete(&Path::from(path))) {
            Err(Error::NotFound { .. }) | Ok(()) => Ok(()),
            Err(error) => Err(failure(error)),
        }
    }
}

/// The content of an object as it arrives.
struct Content {
    runtime: Arc<runtime::Runtime>,
    parts: BoxStream<'static, Result<Bytes, Error>>,
    part: Bytes,
    patience: Duration,
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.part.is_empty() {
            let (parts, patience) = (&mut self.parts, self.patience);
            let next = self.runtime.block_on(async { time::timeout(patience, parts.next()).await });
            match next.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))? {
                Some(part) => self.part = part.map_err(io::Error::other)?,
                None => return Ok(0),
            }
        }
        let length = buffer.len().min(self.part.len());
        buffer[..length].copy_from_slice(&self.part.split_to(length));
        Ok(length)
    }
}

fn slot(number: u64) -> Path {
    Path::from(format!("entries/{number:020}"))
}

fn failure(error: Error) -> Failure {
    match error {
        Error::PermissionDenied { .. }
        | Error::Unauthenticated { .. }
        | Error::InvalidPath { .. }
        | Error::NotFound { .. }
        | Error::NotSupported { .. }
        | Error::NotImplemented { .. } => Failure::Refused(error.to_string()),
        _ => Failure::Lost(error.to_string()),
    }
}
