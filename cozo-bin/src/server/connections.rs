//! The threads that serve connections, one for each processor.
//!
//! A connection stays with the thread that it was given to. Threads that took over each other's connections would wake one another for
//! most requests, and that takes longer than to answer them.

use std::io;
use std::net::TcpStream;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle, available_parallelism};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::watch;
use tokio::time::{interval, sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::activity::{Activity, Watched};
use super::direct::Direct;
use super::half_closed::HalfClosed;
use super::running::Peer;

/// How long the requests whose scripts were stopped have for their answers.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Meanwhile scripts that begin are stopped this often.
const BETWEEN_STOPS: Duration = Duration::from_millis(20);

/// How connections are served.
#[derive(Clone)]
pub struct Protocol {
    /// What encrypts them.
    pub tls: Option<TlsAcceptor>,
    /// How long a client may be silent where it is to say or to take something.
    pub client_timeout: Duration,
    /// How long requests may go on when the server ends.
    pub patience: Duration,
}

/// All threads that serve connections.
pub struct Threads {
    threads: Vec<Thread>,
    /// Whether requests are to end before their time.
    hurry: watch::Sender<bool>,
}

struct Thread {
    connections: UnboundedSender<Connection>,
    /// How many connections it has.
    count: Arc<AtomicUsize>,
    handle: JoinHandle<()>,
}

/// A connection that is to be served.
struct Connection {
    stream: TcpStream,
    counted: Counted,
}

/// Counts as a connection of a thread.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Counted(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Threads {
    /// One for each processor, or as many as can be had, if there is one.
    pub fn start(service: &Direct, protocol: &Protocol) -> io::Result<Self> {
        let (hurry, hurried) = watch::channel(false);
        let start = || Thread::start(service.for_thread(), protocol.clone(), hurried.clone());
        let first = start()?;
        let wanted = available_parallelism().map_or(1, usize::from);
        let others = (1..wanted).map_while(|_| start().ok());
        let threads: Vec<Thread> = std::iter::once(first).chain(others).collect();
        if threads.len() < wanted {
            tracing::warn!(threads = threads.len(), wanted, "there are not enough threads for all processors");
        }
        Ok(Threads { threads, hurry })
    }

    /// What says that requests have no more time when the server ends.
    pub fn hurry(&self) -> watch::Sender<bool> {
        self.hurry.clone()
    }

    /// Serves a connection on the thread that has the fewest.
    pub fn serve(&self, stream: TcpStream) {
        let Some(thread) = self.threads.iter().min_by_key(|thread| thread.count.load(Ordering::Relaxed)) else {
            return;
        };
        let sent = thread.connections.send(Connection { stream, counted: Counted::new(&thread.count) });
        if sent.is_err() {
            tracing::error!("a thread that serves connections has ended");
        }
    }

    /// Lets the requests that are there end, within the time that they have, and closes all connections.
    pub fn end(self) {
        let (queues, handles): (Vec<_>, Vec<_>) =
            self.threads.into_iter().map(|thread| (thread.connections, thread.handle)).unzip();
        // All begin to end at once.
        drop(queues);
        for handle in handles {
            if handle.join().is_err() {
                tracing::error!("a thread that serves connections failed");
            }
        }
    }
}

impl Thread {
    fn start(service: Direct, protocol: Protocol, hurry: watch::Receiver<bool>) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (connections, queue) = unbounded_channel();
        let serve = move || runtime.block_on(serve_all(queue, service, protocol, hurry));
        let handle = thread::Builder::new().name("connections".to_string()).spawn(serve)?;
        Ok(Thread { connections, count: Arc::default(), handle })
    }
}

async fn serve_all(
    mut queue: UnboundedReceiver<Connection>,
    service: Direct,
    protocol: Protocol,
    mut hurry: watch::Receiver<bool>,
) {
    let end = GracefulShutdown::new();
    while let Some(connection) = queue.recv().await {
        tokio::spawn(serve(connection, service.clone(), protocol.clone(), end.watcher()));
    }
    let mut ended = pin!(end.shutdown());
    tokio::select! {
        () = &mut ended => return,
        () = sleep(protocol.patience) => (),
        _ = hurry.wait_for(|hurry| *hurry) => (),
    }
    // A client is told that its script was stopped. Requests that waited begin now, and are stopped, too.
    let stop = async {
        let mut again = interval(BETWEEN_STOPS);
        loop {
            again.tick().await;
            service.stop_scripts();
        }
    };
    // What takes longer is dropped with the runtime of this thread.
    let _ = timeout(LAST_ANSWERS, async {
        tokio::select! { () = ended => (), () = stop => () }
    })
    .await;
}

async fn serve(connection: Connection, service: Direct, protocol: Protocol, end: Watcher) {
    let Connection { stream, counted: _counted } = connection;
    let service = service.for_peer(stream.peer_addr().ok().map(Peer));
    let Protocol { tls, client_timeout, .. } = protocol;
    let Ok(stream) = set_up(stream, client_timeout) else { return };
    match tls {
        None => exchange(stream, service, client_timeout, end).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(client_timeout, tls.accept(stream)).await {
                exchange(stream, service, client_timeout, end).await;
            }
        }
    }
}

/// Small responses leave at once, and clients that have gone without a word are noticed.
fn set_up(stream: TcpStream, client_timeout: Duration) -> io::Result<tokio::net::TcpStream> {
    stream.set_nodelay(true)?;
    let socket = SockRef::from(&stream);
    socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(client_timeout.max(Duration::from_secs(1))))?;
    // A client that takes nothing of its response for so long has lost its connection.
    #[cfg(target_os = "linux")]
    socket.set_tcp_user_timeout(Some(client_timeout))?;
    tokio::net::TcpStream::from_std(stream)
}

/// Answers the requests of a connection until either side has enough of it.
async fn exchange<S>(stream: S, service: Direct, client_timeout: Duration, end: Watcher)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let activity = Arc::<Activity>::default();
    let service = Watched::new(service, activity.clone());
    // A timer of hyper's for each request would take four times as long as to note that there was one.
    let stream = TokioIo::new(HalfClosed::new(stream, activity.clone()));
    let connection = http1::Builder::new().header_read_timeout(None).serve_connection(stream, service);
    tokio::select! {
        biased;
        ended = end.watch(connection) => if let Err(error) = ended {
            tracing::debug!(%error, "a connection failed");
        },
        () = activity.has_ceased(client_timeout) => tracing::debug!("a silent connection was closed"),
    }
}
