//! A server as a process of its own, for as long as it is asked.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a server has until it listens.
const START: Duration = Duration::from_secs(60);

/// A server that listens; it ends with this.
pub struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// Starts a server; the port is the last argument of the command.
    pub fn start(mut command: Command) -> Result<Server, String> {
        let port = free_port().map_err(|error| error.to_string())?;
        command.arg(port.to_string()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().map_err(|error| format!("{command:?} does not start: {error}"))?;
        let mut server = Server { process, port };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = server.process.try_wait().map_err(|error| error.to_string())?;
            if ended.is_some() || start.elapsed() > START {
                return Err(format!("{command:?} does not listen"));
            }
            sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// Where scripts are sent.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/text-query", self.port)
    }

    /// Sends a script, and gives the whole response.
    pub fn post(&self, body: &str) -> Result<String, String> {
        let ask = || -> std::io::Result<String> {
            let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
            let length = body.len();
            write!(
                stream,
                "POST /text-query HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
                 content-length: {length}\r\n\r\n{body}"
            )?;
            let mut response = String::new();
            stream.read_to_string(&mut response)?;
            Ok(response)
        };
        ask().map_err(|error| format!("the server does not answer: {error}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Whoever has ended already cannot be ended.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A port that nobody listens on, for now.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
