//! Servers that a test starts, and that end with it.

use std::{
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

pub struct Server(Child);

impl Server {
    /// Starts a server, and returns when it accepts connections at a port.
    pub fn start(command: &mut Command, port: u16) -> Server {
        let mut server = Server(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(server.0.try_wait().unwrap().is_none(), "the server ended: {command:?}");
            assert!(start.elapsed() < Duration::from_secs(60), "the server does not start: {command:?}");
            thread::sleep(Duration::from_millis(20));
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port without a listener.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Runs one of the repository's tools.
pub fn tool(name: &str, arguments: &[&str]) -> Output {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tools").join(name);
    let output = Command::new(path).args(arguments).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success());
    output
}
