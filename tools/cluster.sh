#!/bin/sh
# cluster.sh etcd up | kill N | start N | pause N | resume N | status | down
# A cluster of three etcd nodes on this machine, for shared logs: the address is etcd://127.0.0.1:23790,127.0.0.1:23791,127.0.0.1:23792/NAME.
# Node N is 0, 1 or 2. `down` removes their data. COZO_CLUSTER is the folder of the data, COZO_CLUSTER_PORT the first port.
set -eu

folder=${COZO_CLUSTER:-${XDG_CACHE_HOME:-$HOME/.cache}/cozo/cluster}
port=${COZO_CLUSTER_PORT:-23790}

usage() {
    sed -n 's/^# \(cluster.sh .*\)/usage: \1/p' "$0" >&2
    exit 2
}

# The addresses of node N, for clients and for the other nodes.
client() { echo "http://127.0.0.1:$((port + $1))"; }
peer() { echo "http://127.0.0.1:$((port + 3 + $1))"; }

node() {
    case ${1:-} in 0 | 1 | 2) ;; *) usage ;; esac
    echo "$folder/$1"
}

pid() { cat "$(node "$1")/pid" 2>/dev/null; }

# Whether node N runs. A process that has ended, but that nothing has waited for, does not.
runs() {
    process=$(pid "$1" || true)
    [ -n "$process" ] && kill -0 "$process" 2>/dev/null && ! grep -q ') Z' "/proc/$process/stat" 2>/dev/null
}

start() {
    if runs "$1"; then return; fi
    mkdir -p "$(node "$1")"
    "$(dirname "$0")/with-debian.sh" etcd etcd-server -- etcd --name "n$1" --data-dir "$(node "$1")/data" \
        --initial-cluster "n0=$(peer 0),n1=$(peer 1),n2=$(peer 2)" \
        --listen-client-urls "$(client "$1")" --advertise-client-urls "$(client "$1")" \
        --listen-peer-urls "$(peer "$1")" --initial-advertise-peer-urls "$(peer "$1")" \
        >"$(node "$1")/log" 2>&1 &
    echo $! >"$(node "$1")/pid"
}

# Waits for a leader.
answers() {
    python3 - "$(client "$1")/health" <<'END' || { echo "node $1 does not answer; its output is in $(node "$1")/log" >&2; exit 1; }
import sys, time, urllib.request

for _ in range(100):
    try:
        if b'"true"' in urllib.request.urlopen(sys.argv[1], timeout=2).read():
            sys.exit()
    except OSError:
        pass
    time.sleep(0.2)
sys.exit(1)
END
}

# Sends a signal to node N.
signal() {
    runs "$2" || { echo "node $2 does not run" >&2; exit 1; }
    kill "-$1" "$(pid "$2")"
}

[ "${1:-}" = etcd ] || usage
case ${2:-} in
up)
    # Unpacked once, not by three nodes at a time.
    "$(dirname "$0")/with-debian.sh" etcd etcd-server -- true
    for n in 0 1 2; do start $n; done
    for n in 0 1 2; do answers $n; done
    echo "etcd://127.0.0.1:$port,127.0.0.1:$((port + 1)),127.0.0.1:$((port + 2))/cozo"
    ;;
start) node "${3:-}" >/dev/null && start "$3" && answers "$3" ;;
kill) node "${3:-}" >/dev/null && signal KILL "$3" ;;
pause) node "${3:-}" >/dev/null && signal STOP "$3" ;;
resume) node "${3:-}" >/dev/null && signal CONT "$3" ;;
status)
    for n in 0 1 2; do
        if runs $n; then echo "node $n: $(client $n), process $(pid $n)"; else echo "node $n: does not run"; fi
    done
    ;;
down)
    for n in 0 1 2; do
        if runs $n; then kill -KILL "$(pid $n)"; fi
    done
    rm -rf "$folder"
    ;;
*) usage ;;
esac
