#!/usr/bin/env python3
"""Compare two commits by the instructions that small fixed pieces of work take.

bench-check.py [--base COMMIT] [--limit PERCENT]

The program benches/benches/instructions.rs is compiled with the crate as of the base and with the working tree, and run under
callgrind. Instructions hardly depend on how busy the machine is. It fails when a piece of work takes more than 5 % more of
them. The base is by default where this branch left main, on main the commit before. Everything is kept in the folder
bench-check of ~/.cache/cozo; the first run compiles all dependencies without RocksDB.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cozo" / "bench-check"
MANIFEST = """[package]
name = "instructions-{name}"
version = "0.0.0"
edition = "2024"
[workspace]
[dependencies]
cozo = {{ path = "{core}", default-features = false }}
"""


def git(*arguments: str) -> str:
    run = subprocess.run(["git", "-C", ROOT, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode:
        raise LookupError(run.stderr.strip())
    return run.stdout.strip()


def default_base() -> str:
    head = git("rev-parse", "HEAD")
    for main in ("origin/main", "main"):
        try:
            left = git("merge-base", head, main)
        except LookupError:
            continue
        if left != head:
            return left
    return git("rev-parse", "HEAD~1")


def checked_out(commit: str) -> Path:
    """A folder with the files of a commit. Its name is the commit's, since cargo goes by the times of files."""
    folder = CACHE / "commits" / commit
    if not folder.exists():
        shutil.rmtree(CACHE / "commits", ignore_errors=True)
        archive = subprocess.run(["git", "-C", ROOT, "archive", commit], stdout=subprocess.PIPE, check=True).stdout
        unfinished = CACHE / "commits" / "unfinished"
        unfinished.mkdir(parents=True)
        subprocess.run(["tar", "-x", "-C", unfinished], input=archive, check=True)
        unfinished.rename(folder)
    return folder


def compiled(name: str, project: Path) -> Path:
    """The program, compiled with the crate of a project."""
    folder = CACHE / name
    (folder / "src").mkdir(parents=True, exist_ok=True)
    write(folder / "Cargo.toml", MANIFEST.format(name=name, core=project / "cozo-core"))
    write(folder / "src" / "main.rs", (ROOT / "benches/benches/instructions.rs").read_text())
    # The same versions of dependencies; cargo strikes what it does not need.
    write(folder / "Cargo.lock", (project / "Cargo.lock").read_text())
    print(f"compiling {name}", file=sys.stderr)
    target = CACHE / "target"
    environment = dict(os.environ, CARGO_TARGET_DIR=str(target), CARGO_INCREMENTAL="0")
    subprocess.run(["cargo", "build", "--quiet", "--release"], cwd=folder, env=environment, check=True)
    return target / "release" / f"instructions-{name}"


def write(path: Path, text: str) -> None:
    """Leaves the file alone if it says the same, so that it is not compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def instructions(program: Path, workload: str, repeats: int) -> int:
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, workload, str(repeats)]
    environment = dict(os.environ, RAYON_NUM_THREADS="1")
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    collected = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not collected:
        sys.exit(f"{workload} fails under valgrind:\n{run.stderr}")
    return int(collected[1])


def measured(program: Path, workload: str, repeats: int) -> int:
    """The instructions of one repeat."""
    return max(1, (instructions(program, workload, repeats) - instructions(program, workload, 0)) // repeats)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="", help="the commit to compare with")
    parser.add_argument("--limit", type=float, default=5.0, help="how many percent more are too many")
    options = parser.parse_args()
    try:
        commit = git("rev-parse", "--verify", f"{options.base}^{{commit}}") if options.base else default_base()
    except LookupError as error:
        sys.exit(f"there is no commit to compare with: {error}")
    base, ours = compiled("base", checked_out(commit)), compiled("ours", ROOT)
    print(f"instructions of one repeat: {git('log', '-1', '--format=%h %s', commit)}, and the working tree\n")
    print(f"{'':14} {'base':>14} {'ours':>14} {'change':>9}")
    worse = []
    listed = subprocess.run([ours, "list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for workload, repeats in (line.split() for line in listed.splitlines()):
        before, after = (measured(program, workload, int(repeats)) for program in (base, ours))
        change = (after / before - 1) * 100
        print(f"{workload:14} {before:14,} {after:14,} {change:+8.1f}%", flush=True)
        if change > options.limit:
            worse.append(workload)
    if worse:
        print(f"\nmore than {options.limit:g} % more instructions: {', '.join(worse)}")
    return 1 if worse else 0


sys.exit(main())
