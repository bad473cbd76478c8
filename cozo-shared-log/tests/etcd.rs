//! Logs in etcd: one node, and three of which one is killed and comes back.
#![allow(clippy::unwrap_used)]
#![cfg(feature = "etcd")]

mod suite;

use cozo_shared_log::{Log, SharedLog, open_medium};
use std::{path::Path, process::Command, thread};
use suite::server::{Server, free_port, tool};

/// The program, whose package is unpacked first if it is not installed.
fn program() -> String {
    let output = tool("with-debian.sh", &["etcd", "etcd-server", "--", "sh", "-c", "command -v etcd"]);
    String::from_utf8(output.stdout).unwrap().trim().to_string()
}

/// A node, with the ports for clients and for the other nodes.
#[derive(Clone, Copy)]
struct Ports(u16, u16);

fn ports() -> Ports {
    Ports(free_port(), free_port())
}

fn start(program: &str, folder: &Path, nodes: &[Ports], index: usize) -> Server {
    let Ports(client, peer) = nodes[index];
    let cluster: Vec<_> =
        nodes.iter().enumerate().map(|(n, node)| format!("n{n}=http://127.0.0.1:{}", node.1)).collect();
    let (client_url, peer_url) = (format!("http://127.0.0.1:{client}"), format!("http://127.0.0.1:{peer}"));
    let mut command = Command::new(program);
    command.args(["--name", &format!("n{index}"), "--initial-cluster", &cluster.join(",")]);
    command.arg("--data-dir").arg(folder.join(index.to_string()));
    for (option, value) in [
        ("--listen-client-urls", &client_url),
        ("--advertise-client-urls", &client_url),
        ("--listen-peer-urls", &peer_url),
        ("--initial-advertise-peer-urls", &peer_url),
    ] {
        command.args([option, value]);
    }
    Server::start(&mut command, client)
}

#[test]
fn one_node_stands_the_suite() {
    let (folder, nodes) = (tempfile::tempdir().unwrap(), [ports()]);
    let _server = start(&program(), folder.path(), &nodes, 0);
    suite::all(&|name| open_medium(&format!("etcd://127.0.0.1:{}/{name}", nodes[0].0)).unwrap());
}

/// Each node is killed and started again while two append: what was acknowledged is there once.
#[test]
fn a_killed_node_loses_nothing() {
    let (folder, nodes, program) = (tempfile::tempdir().unwrap(), [ports(), ports(), ports()], program());
    let run = |index| start(&program, folder.path(), &nodes, index);
    let mut servers: Vec<_> = thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|index| scope.spawn(move || run(index))).collect();
        threads.into_iter().map(|thread| Some(thread.join().unwrap())).collect()
    });
    let hosts: Vec<_> = nodes.iter().map(|node| format!("127.0.0.1:{}", node.0)).collect();
    let open = || Log::open(open_medium(&format!("etcd://{}/log", hosts.join(","))).unwrap(), suite::SECONDS).unwrap();
    let mut done = Vec::new();
    thread::scope(|scope| {
        let appenders: Vec<_> = (0..2)
            .map(|thread| {
                let log = open();
                let append = move |index| {
                    let entry = format!("{thread}.{index}");
                    (suite::append_somewhere(&log, entry.as_bytes()), entry)
                };
                scope.spawn(move || (0..300).map(append).collect::<Vec<_>>())
            })
            .collect();
        let log = open();
        for (index, server) in servers.iter_mut().enumerate() {
            // A third of the appends is done with each of them dead for a while.
            let reached = |count| while log.wait(count - 1, suite::SECONDS).unwrap() < count {};
            reached(index as u64 * 150 + 30);
            drop(server.take());
            reached(index as u64 * 150 + 90);
            *server = Some(run(index));
        }
        appenders.into_iter().for_each(|appender| done.extend(appender.join().unwrap()));
    });
    let all = suite::entries(&open());
    assert_eq!((all.len(), done.len()), (600, 600));
    done.iter().for_each(|(number, entry)| assert_eq!(all[*number as usize - 1].bytes, entry.as_bytes()));
}
