//! Logs in object stores: memory, files, and S3 as moto serves it.
#![allow(clippy::unwrap_used)]
#![cfg(feature = "object-store")]

mod suite;

use cozo_shared_log::open_medium;

#[test]
fn memory_stands_the_suite() {
    suite::all(&|name| open_medium(&format!("memory://{name}")).unwrap());
}

#[test]
fn files_stand_the_suite() {
    let folder = tempfile::tempdir().unwrap();
    suite::all(&|name| open_medium(&format!("file://{}", folder.path().join(name).display())).unwrap());
}

#[cfg(feature = "s3")]
mod s3 {
    use super::*;
    use crate::suite::server::{Server, free_port, tool};
    use std::{
        io::{Read, Write},
        net::TcpStream,
        process::Command,
    };

    /// A bucket in moto, which ends with the result.
    fn moto() -> (Server, u16) {
        let venv = tool("venv.sh", &["moto", "moto[server]"]);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/s3_server.py");
        let port = free_port();
        let mut command = Command::new(format!("{}/bin/python", String::from_utf8_lossy(&venv.stdout).trim()));
        let server = Server::start(command.args([script, &port.to_string()]), port);
        let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let request = "PUT /bucket HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        assert!(answer.contains(" 200 "), "{answer}");
        (server, port)
    }

    #[test]
    fn s3_stands_the_suite() {
        let (_server, port) = moto();
        let open = |name: &str| {
            let options = format!("endpoint=http://127.0.0.1:{port}&region=us-east-1&key=test&secret=test");
            open_medium(&format!("s3://bucket/{name}?{options}")).unwrap()
        };
        // It answers some 30 requests a second.
        suite::rounds(&open, 30);
    }
}
