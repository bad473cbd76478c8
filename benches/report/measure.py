"""Runs the benches, the same benches with CozoDB 0.7.6, and the peers; gives their figures.

A figure is a dict of bench, system, test, unit and value. Durations are in ms, s or ns, and less is better; rates end in `/s`.
"""

import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cozo" / "bench-report"
REFERENCE = "CozoDB 0.7.6"
ENGINES = ("mem", "sqlite", "rocksdb")
# Each look-up of CozoDB 0.7.6 in the index of `records` reads all of them; bench http starts the binary `cozo`; turns has both systems;
# some queries of patterns would not end, because CozoDB 0.7.6 joins in the order of the text; it has no limit for spill.
WITHOUT_REFERENCE = ("records", "http", "turns", "patterns", "spill")
# The longest, turns on medium, has taken half as long on a slow day.
MAX_SECONDS = 1800
# The sizes of the network, and who is asked at each. What bench pokec measures beside takes too long.
SIZES = ("small", "medium")
POKEC_PEERS = {"small": "duckdb,kuzu,igraph,sqlite", "medium": "duckdb,igraph"}
ASKED = r"^aggregation|^expand/\d$|^pattern"
RATES = r"^backup|^throughput/(read|write|update|edge_write)/1$"
IMPORTS = r"^import/(csv|batches_of_300|bulk)$"
POKEC = {
    ("ours", "small", "mem"): f"{IMPORTS}|{ASKED}|^page_rank|{RATES}",
    ("ours", "small", "sqlite"): f"{IMPORTS}|{ASKED}|{RATES}",
    ("ours", "small", "rocksdb"): f"{IMPORTS}|{ASKED}|{RATES}",
    ("ours", "medium", "mem"): rf"^import/(csv|batches_of_300)$|{ASKED}|^page_rank|{RATES}",
    ("reference", "small", "mem"): rf"^import/batches_of_300$|{ASKED}|^page_rank/first|{RATES}",
    ("reference", "small", "sqlite"): rf"^import/batches_of_300$|{RATES}",
    ("reference", "medium", "mem"): rf"^import/batches_of_300$|{ASKED}|^page_rank/first|^throughput/(read|write|update|edge_write)/1$",
}
# Of projects outside of the workspace, with the sources of the benches.
MANIFEST = """[package]
name = "cozo-benches"
version = "0.0.0"
edition = "2024"
[workspace]
[features]
default = [{features}]
columns = []
mimalloc = []
other = []
peers = []
[lib]
path = "{benches}/src/lib.rs"
[dependencies]
{systems}
criterion = {{ version = "0.8", default-features = false, features = ["cargo_bench_support"] }}
flate2 = "1.1"
mimalloc = {{ version = "0.1", default-features = false }}
rand = "0.10"
rayon = "1.12"
regex = "1.13"
serde_json = "1"
tempfile = "3"
[profile.release]
debug = 1
"""
# Sources that know nothing but what CozoDB 0.7 has, too.
ONE_SYSTEM = 'cozo = { version = "=0.7.6", default-features = false, features = ["minimal", "graph-algo"] }'
# Both in one process, which has one SQLite.
TWO_SYSTEMS = f"""cozo = {{ path = "{ROOT}/cozo-core" }}
cozo_reference = {{ package = "cozo", version = "=0.7.6", default-features = false, features = ["graph-algo"] }}"""


@dataclass(frozen=True)
class Program:
    """Benches, compiled with one system or with both."""

    whose: str
    system: str
    benches: list[str]
    command: list
    folder: Path
    environment: dict

    def compiled(self) -> bool:
        """Compiles them. Ours must; others that do not are left out."""
        print(f"compiling the benches of {self.whose}", file=sys.stderr, flush=True)
        variables = dict(os.environ, **self.environment)
        return subprocess.run([*self.command, "--no-run"], cwd=self.folder, env=variables, check=self.whose == "ours").returncode == 0

    def figures(self, bench: str, size: str, engine: str) -> list[dict]:
        """What one bench says, at a size and on an engine where it is asked for these one by one."""
        if bench not in self.benches:
            return []
        variables = dict(self.environment)
        command = [*self.command, "--bench", bench, "--"]
        if bench == "pokec":
            if not (filtered := POKEC.get((self.whose, size, engine))):
                return []
            command.append(filtered)
            variables |= {"COZO_BENCH_POKEC_SIZE": size, "COZO_BENCH_POKEC_CSV": str(CACHE / f"pokec-{size}")}
        elif bench == "patterns":
            variables |= {"COZO_BENCH_PATTERNS_SCALE": "1", "COZO_BENCH_PATTERNS_CSV": str(CACHE / "patterns")}
        elif bench == "spill":
            variables |= {"COZO_BENCH_SPILL_SCALE": "0.1", "COZO_BENCH_SPILL_CSV": str(CACHE / "spill")}
        elif bench == "turns":
            variables |= {"COZO_BENCH_POKEC_SIZE": size, "COZO_BENCH_CACHE": str(CACHE)}
        elif self.whose == "reference":
            # Its writers on sqlite fail: the database is locked.
            engine = "mem" if bench == "social" else "mem,sqlite"
        return run(command, self.folder, bench, f"{bench} {size}".strip(), engine, self.system, variables)


def ours(benches: list[str]) -> Program:
    command = [ROOT / "tools/with-libclang.sh", "cargo", "bench", "--package", "cozo-benches", "--features", "peers"]
    return Program("ours", "cozo {}", [bench for bench in benches if bench != "turns"], command, ROOT, {})


def reference(benches: list[str]) -> Program:
    """CozoDB 0.7.6 with the same sources."""
    benches = [bench for bench in benches if bench not in WITHOUT_REFERENCE]
    return elsewhere("reference", REFERENCE + " {}", benches, '"mimalloc"', ONE_SYSTEM, {})


def both(benches: list[str]) -> Program:
    """Bench turns, with ours and CozoDB 0.7.6 in one process."""
    benches = [bench for bench in benches if bench == "turns"]
    other = {"COZO_BENCH_OTHER": f"{REFERENCE} mem"}
    return elsewhere("both", "cozo {}", benches, '"columns", "mimalloc", "other"', TWO_SYSTEMS, other)


def compile_server() -> None:
    """Compiles the binary `cozo`, which bench http would do while it measures."""
    print("compiling the server", file=sys.stderr, flush=True)
    subprocess.run([ROOT / "tools/with-libclang.sh", "cargo", "build", "--release", "--package", "cozo-bin"], cwd=ROOT, check=True)


def elsewhere(whose: str, system: str, benches: list[str], features: str, systems: str, environment: dict) -> Program:
    """The benches in a project of its own."""
    project = CACHE / whose
    project.mkdir(parents=True, exist_ok=True)
    manifest = MANIFEST.format(benches=ROOT / "benches", features=features, systems=systems)
    for bench in benches:
        path = ROOT / "benches" / "benches" / bench
        path = path / "main.rs" if path.is_dir() else path.with_suffix(".rs")
        manifest += f'[[bench]]\nname = "{bench}"\npath = "{path}"\nharness = false\n'
    (project / "Cargo.toml").write_text(manifest)
    # Their dependencies are mostly the same.
    environment = {"CARGO_TARGET_DIR": str(CACHE / "target"), **environment}
    return Program(whose, system, benches, [ROOT / "tools/with-libclang.sh", "cargo", "bench"], project, environment)


def run(
    command: list, folder: Path, bench: str, title: str, engine: str, system: str, environment: dict
) -> list[dict]:
    """One run of one bench on an engine, or on those that it chooses. One that fails or does not end is told and left out."""
    with tempfile.TemporaryDirectory() as scratch:
        lines = Path(scratch) / "figures.json"
        variables = dict(os.environ, COZO_BENCH_JSON=str(lines), CRITERION_HOME=scratch, **environment)
        if engine:
            variables["COZO_BENCH_ENGINE"] = engine
        print(f"{title} {engine}: {system.format('')}", file=sys.stderr, flush=True)
        process = subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.DEVNULL, start_new_session=True)
        try:
            failed = process.wait(MAX_SECONDS) != 0
        except subprocess.TimeoutExpired:
            failed = True
        finally:
            # With what cargo has started.
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        if failed:
            print(f"{title} {engine} failed, or did not end in {MAX_SECONDS} s, and is left out", file=sys.stderr)
            return []
        figures = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
        figures += criterion(Path(scratch), bench, engine if engine in ENGINES else "mem")
    for figure in figures:
        figure["bench"] = title
        # Peers keep their names. An engine may have an addition, as in "mem, indices".
        if figure["system"].split(",")[0] in ENGINES:
            figure["system"] = system.format(figure["system"])
    return figures


def criterion(folder: Path, bench: str, engine: str) -> list[dict]:
    """What criterion has measured. What it calls a function is a system where a peer runs beside a script."""
    figures = []
    for path in sorted(folder.glob("**/new/estimates.json")):
        what = json.loads((path.parent / "benchmark.json").read_text())
        if what["group_id"] == "throughput":
            # In queries a second among the figures of the bench.
            continue
        parts = [what["group_id"], what["function_id"], what["value_str"]]
        peer = what["function_id"] == "ascent"
        # Of the two ways to write a closure, the one that `ascent` has.
        parts = [part for part in parts if part and part not in ("ascent", "left")]
        value = json.loads(path.read_text())["median"]["point_estimate"] / 1e6
        figures.append({"bench": bench, "system": "ascent" if peer else engine, "test": "/".join(parts), "unit": "ms", "value": value})
    return figures


def peers(bench: str, size: str) -> list[dict]:
    """What others from Python have to say to a bench."""
    if bench == "recursion":
        return asked_of_peers(["--recursion"])
    if bench == "patterns":
        return asked_of_peers([CACHE / "patterns", "--lines"], "patterns.py")
    if bench == "spill":
        return asked_of_peers([CACHE / "spill", "--lines"], "spill.py")
    if bench != "pokec":
        return []
    folder = CACHE / f"pokec-{size}"
    if not (folder / "friends.csv").exists():
        print(f"bench pokec has not run on {size}, and its peers are left out", file=sys.stderr)
        return []
    return asked_of_peers(["--pokec", folder, "--bench", f"pokec {size}", "--only", POKEC_PEERS[size]])


def asked_of_peers(arguments: list, script: str = "peers.py") -> list[dict]:
    print(f"peers from Python {arguments[-1]}", file=sys.stderr, flush=True)
    command = [sys.executable, Path(__file__).parent / script, *arguments]
    lines = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return [json.loads(line) for line in lines.splitlines()]


def machine() -> dict:
    """What the figures hold for."""
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    text = lambda *command: subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False).stdout.strip()
    memory = [int(line.split()[1]) / 1e6 for line in open("/proc/meminfo") if line.startswith("MemTotal")]
    return {
        "processor": cpu[0] if cpu else platform.machine(),
        "processors": os.cpu_count(),
        "memory_gb": round(memory[0], 1),
        "system": platform.platform(),
        "load": os.getloadavg()[0],
        "compiler": text("rustc", "--version"),
        "commit": text("git", "describe", "--always", "--dirty"),
        "date": time.strftime("%Y-%m-%d"),
        "durability": "os",
    }


def pace() -> float:
    """Seconds for what is always the same: a machine that is shared changes its pace."""
    start = time.perf_counter()
    sum(range(20_000_000))
    return time.perf_counter() - start


def record(benches: list[str], sizes: list[str], path: Path, with_reference: bool) -> None:
    """Measures everything once and writes it down, piece by piece."""
    recorded = {"machine": machine(), "figures": []}
    paces = [pace()]

    def add(figures: list[dict]) -> None:
        if not figures:
            return
        recorded["figures"] += figures
        paces.append(pace())
        recorded["machine"]["pace"] = [min(paces), max(paces)]
        path.write_text(json.dumps(recorded, indent=1) + "\n")

    programs = [ours(benches), *([reference(benches), both(benches)] if with_reference else [])]
    programs = [program for program in programs if program.benches and program.compiled()]
    if "http" in benches:
        compile_server()
    for bench in benches:
        for size in sizes if bench in ("pokec", "turns") else [""]:
            # What is compared is measured one after the other: the pace of a machine changes within half an hour.
            for engine in ENGINES if bench == "pokec" else [""]:
                for program in programs:
                    add(program.figures(bench, size, engine))
            add(peers(bench, size))
