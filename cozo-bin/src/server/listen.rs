//! Listening: the address, encryption, and new connections.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use socket2::SockRef;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

use crate::error::CliError;

/// How long nothing is accepted when the system can open no more connections.
const PAUSE: Duration = Duration::from_millis(50);

/// How many connections may wait until they are accepted. The system may reset those beyond, and more may come at once than the
/// standard library lets wait.
const MAX_WAITING: i32 = 4096;

/// Listens on an address, which is a number or a name.
pub fn bind(address: &str, port: u16) -> Result<TcpListener, CliError> {
    let failed = |source| CliError::Listen { address: format!("{address}:{port}"), source };
    let bare = address.trim_start_matches('[').trim_end_matches(']');
    let addresses: Vec<SocketAddr> = (bare, port).to_socket_addrs().map_err(failed)?.collect();
    let listener = TcpListener::bind(&addresses[..]).map_err(failed)?;
    SockRef::from(&listener).listen(MAX_WAITING).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// What encrypts connections: certificates and their key, from PEM files.
pub fn tls(certificates: &Path, key: &Path) -> miette::Result<TlsAcceptor> {
    let bad = |path: &Path, reason: String| CliError::Tls { path: path.display().to_string(), reason };
    let chain = CertificateDer::pem_file_iter(certificates)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| bad(certificates, error.to_string()))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| bad(key, error.to_string()))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
        .map_err(|error| bad(certificates, error.to_string()))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// Gives each new connection to `serve`, until `end` is there. Then nobody listens any more.
pub async fn accept(listener: TcpListener, serve: impl Fn(TcpStream), end: impl Future<Output = ()>) -> io::Result<()> {
    let listener = tokio::net::TcpListener::from_std(listener)?;
    let mut end = pin!(end);
    loop {
        let accepted = tokio::select! {
            () = &mut end => return Ok(()),
            accepted = listener.accept() => accepted,
        };
        match accepted.and_then(|(stream, _)| stream.into_std()) {
            Ok(stream) => serve(stream),
            Err(error) if is_of_client(error.kind()) => (),
            Err(error) => {
                tracing::error!(%error, "no connection can be accepted");
                sleep(PAUSE).await;
            }
        }
    }
}

/// Whether a connection ended before it was accepted.
fn is_of_client(error: ErrorKind) -> bool {
    matches!(error, ErrorKind::ConnectionAborted | ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset)
}
