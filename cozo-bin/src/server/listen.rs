//! Connections: the address, encryption, slow clients, and an orderly end.

use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum_server::Handle;
use axum_server::accept::Accept;
use axum_server::tls_rustls::{RustlsAcceptor, RustlsConfig};
use hyper_util::rt::TokioTimer;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;
use tower::service_fn;

use super::direct::Direct;
use crate::error::CliError;

/// Listens on an address, which is a number or a name.
pub fn bind(address: &str, port: u16) -> Result<TcpListener, CliError> {
    let failed = |source| CliError::Listen { address: format!("{address}:{port}"), source };
    let bare = address.trim_start_matches('[').trim_end_matches(']');
    let addresses: Vec<SocketAddr> = (bare, port).to_socket_addrs().map_err(failed)?.collect();
    let listener = TcpListener::bind(&addresses[..]).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    Ok(listener)
}

/// What encrypts connections: certificates and their key, from PEM files.
pub fn tls(certificates: &Path, key: &Path) -> miette::Result<RustlsConfig> {
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
    Ok(RustlsConfig::from_config(Arc::new(config)))
}

/// Serves connections until the handle says that it is enough.
pub async fn serve(
    listener: TcpListener,
    tls: Option<RustlsConfig>,
    service: Direct,
    client_timeout: Duration,
    handle: Handle<SocketAddr>,
) -> io::Result<()> {
    let mut server = axum_server::from_tcp(listener)?.handle(handle);
    server.http_builder().http1().timer(TokioTimer::new()).header_read_timeout(client_timeout);
    let settings = Settings { client_timeout };
    let service = service_fn(move |_: SocketAddr| ready(Ok::<_, Infallible>(service.for_connection())));
    // A single version of HTTP, so that the time for the headers begins with the connection. It has to be said after the acceptor.
    match tls {
        None => server.acceptor(settings).http1_only().serve(service).await,
        Some(tls) => {
            let acceptor = RustlsAcceptor::new(tls).handshake_timeout(client_timeout).acceptor(settings);
            server.acceptor(acceptor).http1_only().serve(service).await
        }
    }
}

/// Sets up each connection: small responses leave at once, and clients that have gone without a word are noticed.
#[derive(Clone)]
struct Settings {
    client_timeout: Duration,
}

impl<S: Send + 'static> Accept<TcpStream, S> for Settings {
    type Stream = TcpStream;
    type Service = S;
    type Future = std::future::Ready<io::Result<(TcpStream, S)>>;

    fn accept(&self, stream: TcpStream, service: S) -> Self::Future {
        std::future::ready(self.set_up(&stream).map(|()| (stream, service)))
    }
}

impl Settings {
    fn set_up(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let socket = SockRef::from(stream);
        socket.set_tcp_keepalive(&TcpKeepalive::new().with_time(self.client_timeout.max(Duration::from_secs(1))))?;
        // A client that takes nothing of its response for so long has lost its connection.
        #[cfg(target_os = "linux")]
        socket.set_tcp_user_timeout(Some(self.client_timeout))?;
        Ok(())
    }
}
