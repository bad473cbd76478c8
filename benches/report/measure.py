"""Runs the benches, the same benches with CozoDB 0.7.6, and the peers; gives their figures.

A figure is a dict of bench, system, test, unit and value. Durations are in ms, s or ns, and less is better; rates end in `/s`.
"""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cozo" / "bench-report"
REFERENCE = "CozoDB 0.7.6"
ENGINES = ("mem", "sqlite", "rocksdb")
REFERENCE_ENGINES = ("mem", "sqlite")
# Each of its look-ups in the index of `records` reads all of them.
UNENDING = ("records",)
# No bench takes half as long.
MAX_SECONDS = 900
# What is asked of all in bench pokec; the rest of it takes CozoDB 0.7.6 too long.
POKEC = r"^import/(batches_of_300|bulk)$|^aggregation|^expand/\d$|^pattern|^page_rank|^backup|^throughput/(read|write|update|edge_write)/1$"
# Sources that know nothing but what CozoDB 0.7 has, too.
REFERENCE_MANIFEST = """[package]
name = "cozo-benches"
version = "0.0.0"
edition = "2024"
[workspace]
[features]
columns = []
peers = []
[lib]
path = "{benches}/src/lib.rs"
[dependencies]
cozo = {{ version = "=0.7.6", default-features = false, features = ["minimal", "graph-algo"] }}
criterion = {{ version = "0.8", default-features = false, features = ["cargo_bench_support"] }}
flate2 = "1.1"
rand = "0.10"
rayon = "1.12"
regex = "1.13"
serde_json = "1"
tempfile = "3"
[profile.release]
debug = 1
"""


def ours(benches: list[str]) -> list[dict]:
    command = [ROOT / "tools/with-libclang.sh", "cargo", "bench", "--package", "cozo-benches", "--features", "peers"]
    figures = []
    for bench in benches:
        for engine in ENGINES if bench == "pokec" else ("",):
            filtered = [POKEC] if bench == "pokec" else []
            figures += run([*command, "--bench", bench, "--", *filtered], ROOT, bench, engine, "cozo {}")
    return figures


def reference(benches: list[str]) -> list[dict]:
    """The figures of CozoDB 0.7.6, from the same sources in a project outside of the workspace."""
    project = CACHE / "reference"
    project.mkdir(parents=True, exist_ok=True)
    manifest = REFERENCE_MANIFEST.format(benches=ROOT / "benches")
    for bench in benches:
        path = ROOT / "benches" / "benches" / bench
        path = path / "main.rs" if path.is_dir() else path.with_suffix(".rs")
        manifest += f'[[bench]]\nname = "{bench}"\npath = "{path}"\nharness = false\n'
    (project / "Cargo.toml").write_text(manifest)
    environment = {"CARGO_TARGET_DIR": str(CACHE / "reference" / "target")}
    figures = []
    for bench in benches:
        command = ["cargo", "bench", "--bench", bench, "--"]
        for engine in REFERENCE_ENGINES if bench == "pokec" else (",".join(REFERENCE_ENGINES),):
            filtered = [POKEC] if bench == "pokec" else []
            figures += run([*command, *filtered], project, bench, engine, REFERENCE + " {}", environment)
    return figures


def run(command: list, folder: Path, bench: str, engine: str, system: str, environment: dict | None = None) -> list[dict]:
    """One run of one bench on an engine, or on those that it chooses. One that fails or does not end is told and left out."""
    with tempfile.TemporaryDirectory() as scratch:
        lines = Path(scratch) / "figures.json"
        variables = dict(os.environ, COZO_BENCH_JSON=str(lines), CRITERION_HOME=scratch, **(environment or {}))
        if bench == "pokec":
            variables["COZO_BENCH_POKEC_CSV"] = str(CACHE / "pokec")
        if engine:
            variables["COZO_BENCH_ENGINE"] = engine
        print(f"{bench} {engine}: {system.format('')}", file=sys.stderr, flush=True)
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
            print(f"{bench} {engine} failed, or did not end in {MAX_SECONDS} s, and is left out", file=sys.stderr)
            return []
        figures = [json.loads(line) for line in lines.read_text().splitlines()] if lines.exists() else []
        figures += criterion(Path(scratch), bench, engine if engine in ENGINES else "mem")
    for figure in figures:
        # Peers keep their names.
        if figure["system"] in ENGINES:
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


def peers(benches: list[str]) -> list[dict]:
    """What others from Python have to say to these benches."""
    asked = ["--recursion"] if "recursion" in benches else []
    if "pokec" in benches:
        if (CACHE / "pokec" / "friends.csv").exists():
            asked += ["--pokec", CACHE / "pokec"]
        else:
            print("bench pokec has not run, and its peers are left out", file=sys.stderr)
    if not asked:
        return []
    print("peers from Python", file=sys.stderr, flush=True)
    command = [sys.executable, Path(__file__).parent / "peers.py", *asked]
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


def record(benches: list[str], path: Path, with_reference: bool) -> None:
    """Measures everything once and writes it down."""
    recorded = {"machine": machine(), "figures": ours(benches)}
    if with_reference and shutil.which("cargo"):
        recorded["figures"] += reference([bench for bench in benches if bench not in UNENDING])
    recorded["figures"] += peers(benches)
    path.write_text(json.dumps(recorded, indent=1) + "\n")
