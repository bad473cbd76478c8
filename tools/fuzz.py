#!/usr/bin/env python3
"""Fuzzes the parser and the evaluator: fuzz.py [--seconds S] [--seed N] [TARGET ...], both targets by default.

Inputs that reach new code are kept in the target directory, and are where the next run begins. With a seed, a run begins
with the scripts of the tests alone and keeps nothing, so that it tries the same inputs as the run before it. Needs a C++ compiler and cargo;
cargo-fuzz is compiled into a folder that is kept. No sanitizer runs, so that any compiler will do: hardly any of the code is
unsafe, and what a target checks, it checks itself."""

import argparse
import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CARGO_FUZZ = "cargo-fuzz@0.13.2"
TARGETS = ["parse", "evaluate"]
# Files of scripts for the first inputs, and what divides them there.
SCRIPTS = [("scripts.txt", "\n=====\n"), ("canonical.txt", "\n---\n"), ("broken.txt", "\n---\n")]


def cargo_fuzz() -> str:
    """The program, compiled if it is not there."""
    if found := shutil.which("cargo-fuzz"):
        return found
    tool = subprocess.run([ROOT / "tools" / "cargo-tool.sh", CARGO_FUZZ], check=True, stdout=subprocess.PIPE, text=True)
    return str(Path(tool.stdout.strip()) / "cargo-fuzz")


def write_seeds(folder: Path) -> None:
    """Writes the first inputs, a file each."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, divider in SCRIPTS:
        text = (ROOT / "cozo-core" / "tests" / "corpus" / "parse" / name).read_text()
        for number, script in enumerate(text.split(divider)):
            (folder / f"{name}-{number}").write_text(script)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=" or ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=60, help="how long each target runs")
    parser.add_argument("--seed", type=int, help="where the random numbers begin, from 1 on")
    arguments = parser.parse_args()
    folder = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "fuzz"
    seeds = folder / "seeds"
    write_seeds(seeds)
    program = cargo_fuzz()
    for target in arguments.targets or TARGETS:
        found = folder / ("corpus" if arguments.seed is None else "seeded") / target
        if arguments.seed is not None:
            shutil.rmtree(found, ignore_errors=True)
        found.mkdir(parents=True, exist_ok=True)
        command = [program, "run", "--dev", "--sanitizer", "none", "--target-dir", folder, target, found, seeds, "--"]
        # A query's memory is limited by the database.
        limits = [f"-max_total_time={arguments.seconds}", "-rss_limit_mb=0", "-timeout=120", "-print_final_stats=1"]
        limits += [] if arguments.seed is None else [f"-seed={arguments.seed}"]
        subprocess.run([*command, *limits], check=True, cwd=ROOT)


if __name__ == "__main__":
    main()
