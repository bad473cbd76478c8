//! A server in a process of its own, and a client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use ureq::http::Request;

/// How long tests wait for what must happen.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running server, killed when it is dropped.
pub struct Server {
    child: Child,
    /// Where it listens: a scheme, a host and a port.
    pub address: String,
    /// The first line of its log.
    pub first_line: String,
    log: Mutex<Receiver<String>>,
    is_paused: Arc<AtomicBool>,
    agent: ureq::Agent,
}

/// A response.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("it is UTF-8")
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.text()))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The JSON of a response with status 200.
    pub fn ok(&self) -> Value {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json()
    }

    /// Checks that it is an error with this status and code.
    pub fn failed(&self, status: u16, code: &str) {
        assert_eq!(self.status, status, "{}", self.text());
        let json = self.json();
        assert_eq!((&json["ok"], &json["code"]), (&json!(false), &json!(code)), "{json}");
        assert!(json["message"].is_string() && json["display"].is_string(), "{json}");
    }
}

/// Starts a server on a free port of 127.0.0.1, or as the arguments say.
pub fn start(arguments: &[&str]) -> Server {
    start_with(arguments, |command| command)
}

/// Starts a server whose process is prepared further.
pub fn start_with(arguments: &[&str], prepare: impl FnOnce(&mut Command) -> &mut Command) -> Server {
    start_by(&[], arguments, prepare)
}

/// Starts a server by another program, which takes the command line of the server.
pub fn start_by(program: &[&str], arguments: &[&str], prepare: impl FnOnce(&mut Command) -> &mut Command) -> Server {
    let words: Vec<&str> = [program, &[env!("CARGO_BIN_EXE_cozo")]].concat();
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(["server", "-P", "0"]).args(arguments).env_remove("COZO_AUTH_TOKEN");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    prepare(&mut command);
    let mut child = command.spawn().expect("the binary starts");
    let is_paused = Arc::<AtomicBool>::default();
    let log = lines_of(child.stderr.take().expect("there is a pipe"), is_paused.clone());
    let first_line = wait_for_line(&log, "");
    let line = if first_line.contains("listening") { first_line.clone() } else { wait_for_line(&log, "listening") };
    let address = line.split("http").nth(1).expect("it says where").split('"').next().unwrap_or_default();
    let agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let address = format!("http{}", address.replace("0.0.0.0", "127.0.0.1"));
    Server { child, address, first_line, log: Mutex::new(log), is_paused, agent }
}

/// Reads lines as they come, so that the server never waits for a reader, unless that is paused.
fn lines_of(stderr: ChildStderr, is_paused: Arc<AtomicBool>) -> Receiver<String> {
    let (sender, lines) = channel();
    thread::spawn(move || {
        for line in BufReader::new(stderr).lines().map_while(Result::ok) {
            drop(sender.send(line));
            while is_paused.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(10));
            }
        }
    });
    lines
}

fn wait_for_line(log: &Receiver<String>, with: &str) -> String {
    let mut seen = String::new();
    loop {
        let line = log.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no '{with}' in the log:\n{seen}"));
        if line.contains(with) {
            return line;
        }
        seen.push_str(&line);
        seen.push('\n');
    }
}

impl Server {
    /// Host and port.
    pub fn authority(&self) -> &str {
        self.address.split_once("://").expect("there is a scheme").1
    }

    /// The next line of the log with this text.
    pub fn logged(&self, with: &str) -> String {
        wait_for_line(&self.log.lock().expect("no reader panicked"), with)
    }

    /// Reads no more of the log: the pipe fills.
    pub fn pause_log(&self) {
        self.is_paused.store(true, Ordering::Relaxed);
    }

    /// What is left of the log of a server that has ended.
    pub fn rest_of_log(&self) -> String {
        let log = self.log.lock().expect("no reader panicked");
        std::iter::from_fn(|| log.recv_timeout(PATIENCE).ok()).map(|line| line + "\n").collect()
    }

    /// The process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends a request.
    pub fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Reply {
        self.try_send(method, path, headers, body).unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    /// Sends a request, which may find no server.
    pub fn try_send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Vec<u8>>,
    ) -> Result<Reply, ureq::Error> {
        let url = format!("{}{path}", self.address);
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = body.into();
        let mut response = match method {
            "GET" | "DELETE" | "OPTIONS" => self.agent.run(request.body(()).expect("a request"))?,
            _ => self.agent.run(request.body(&body[..]).expect("a request"))?,
        };
        let body = response.body_mut().with_config().limit(u64::MAX).read_to_vec()?;
        Ok(Reply { status: response.status().as_u16(), headers: response.headers().clone(), body })
    }

    pub fn get(&self, path: &str) -> Reply {
        self.send("GET", path, &[], "")
    }

    pub fn delete(&self, path: &str) -> Reply {
        self.send("DELETE", path, &[], "")
    }

    pub fn post(&self, path: &str, body: &Value) -> Reply {
        self.send("POST", path, &[], body.to_string())
    }

    pub fn put(&self, path: &str, body: &Value) -> Reply {
        self.send("PUT", path, &[], body.to_string())
    }

    /// Sends a script.
    pub fn query(&self, script: &str) -> Reply {
        self.post("/text-query", &json!({"script": script, "params": {}}))
    }

    /// The rows of a script.
    pub fn rows(&self, script: &str) -> Value {
        self.query(script).ok()["rows"].clone()
    }

    /// Opens a stream of events.
    pub fn events(&self, path: &str) -> Events {
        self.events_after(path, "")
    }

    /// Opens a stream of the events after one that is known.
    pub fn events_after(&self, path: &str, id: &str) -> Events {
        let request = self.agent.get(format!("{}{path}", self.address)).header("last-event-id", id);
        let response = request.call().expect("it answers");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let (sender, events) = channel();
        let reader = BufReader::new(response.into_body().into_reader());
        // The connection is closed when the test drops the receiver and the next line comes.
        thread::spawn(move || {
            let mut id = String::new();
            for line in reader.lines().map_while(Result::ok) {
                if let Some(text) = line.strip_prefix("id: ") {
                    id = text.to_string();
                }
                let Some(data) = line.strip_prefix("data:") else { continue };
                let data = serde_json::from_str(data).expect("it is JSON");
                if sender.send((std::mem::take(&mut id), data)).is_err() {
                    break;
                }
            }
        });
        Events(events)
    }

    /// Opens a connection and sends this text.
    pub fn raw(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.authority()).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("the timeout can be set");
        stream.write_all(text.as_bytes()).expect("it takes the text");
        stream
    }

    /// Sends a signal to the process.
    pub fn signal(&self, signal: &str) {
        send_signal(&self.child, signal);
    }

    /// Waits until the process has ended.
    pub fn wait(&mut self) -> ExitStatus {
        wait_for(&mut self.child)
    }

    /// Stops the server in good order.
    pub fn stop(mut self) {
        self.signal("-TERM");
        assert!(self.wait().success());
    }
}

/// Sends a signal to a process.
pub fn send_signal(child: &Child, signal: &str) {
    let status = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(status.expect("there is a kill").success());
}

/// Waits until a process has ended; one that does not is killed.
pub fn wait_for(child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            return status;
        }
        thread::sleep(Duration::from_millis(10));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it can be waited for")
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The ids and the data of events, as they come. The id is empty if there is none.
pub struct Events(Receiver<(String, Value)>);

impl Events {
    /// The next event.
    pub fn next(&self) -> Value {
        self.next_with_id().1
    }

    /// The next event, and its id.
    pub fn next_with_id(&self) -> (String, Value) {
        self.0.recv_timeout(PATIENCE).expect("an event comes")
    }

    /// Whether the stream has ended, once it does.
    pub fn ends(&self) -> bool {
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            match self.0.recv_timeout(PATIENCE) {
                Ok(_) => continue,
                Err(RecvTimeoutError::Disconnected) => return true,
                Err(RecvTimeoutError::Timeout) => return false,
            }
        }
        false
    }
}

/// Everything that comes from a connection until it is closed.
pub fn read_all(mut stream: TcpStream) -> String {
    let mut text = vec![];
    // A reset is an end as well.
    let _ = stream.read_to_end(&mut text);
    String::from_utf8_lossy(&text).into_owned()
}

/// Waits until something holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}
