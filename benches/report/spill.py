#!/usr/bin/env python3
"""The cases of bench spill to DuckDB, from Python: queries whose intermediate results outgrow a memory limit.

spill.py FOLDER [--only groups,join] [--variants "enough,memory,file,file ordered"] [--seconds 600] [--scratch DIR] [--disk-gb N]
         [--bench NAME] [--json FILE] [--lines]

FOLDER has spill.json, friends.csv and start.csv, as the bench writes them into COZO_BENCH_SPILL_CSV. The variants:

  enough          the data in memory, no limit but DuckDB's default
  memory          the data in memory; the limit is what it takes, and that of the bench besides
  file            a database file, and the limit of the bench for all
  file ordered    likewise, with preserve_insertion_order, which is DuckDB's default and off otherwise
  enough ordered  as enough, with preserve_insertion_order

Each measurement is a process of its own with two threads. An answer that is not that of spill.json ends the run. A query that fails or
takes longer than --seconds has no figure; why goes to stderr. Files are below DIR, by default a temporary folder, and are removed;
temporary files of DuckDB may take --disk-gb. Memory is the peak of the process above what it held before the query. FILE may have
figures of the bench, as COZO_BENCH_JSON names it: the table shows them, too, and those of DuckDB are appended as lines of JSON.
--lines prints these instead of the table.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

THREADS = 2
# A case is loaded and asked in a process with this argument.
MEASURE = "--measure"
# How often the size of temporary files is looked at.
LOOK_SECONDS = 0.05

# As the bench has them: generate.rs.
MODULUS, WIDTH, LAYERS, COMPONENTS = (1 << 31) - 1, 64, 80, 38
SCATTERED = f"create macro scattered(i) as (((i * i % {MODULUS}) * (i * i % {MODULUS}) % {MODULUS}) * i) % {MODULUS}"
ROWS = "create table rows as select range as a, scattered(range) as b from range({rows})"
CLOSURE = """with recursive reached(a, b) as (
        select a, b from edge union select reached.a, edge.b from reached join edge on edge.a = reached.b)
    select count(*) from reached"""
SORTED = "select count(*), sum((a % 1000) * (b % 1000)) from sorted"

# For each case what makes the data, what is timed, and what gives the answer if that makes a table.
CASES = {
    "groups": (
        ["create table fact as select range as id, scattered(range) as key, range % 1000 as value from range({facts})"],
        "select count(*), sum(total * (key % 1000)) from (select key, sum(value) as total from fact group by key)",
        None,
    ),
    "order": ([ROWS], "create table sorted as select a, b from rows order by b", SORTED),
    "reorder": ([ROWS], "create table sorted as select b, a from rows order by b, a", SORTED),
    "page": ([ROWS], "select a, b from rows order by b limit 10 offset {half}", None),
    "closure, layers": (
        [
            f"""create table edge as select (layer * {WIDTH} + place) * {{stride}} + component as a,
                ((layer + 1) * {WIDTH} + (place + step) % {WIDTH}) * {{stride}} + component as b
            from range({LAYERS - 1}) layers(layer), range({WIDTH}) places(place), range({{components}}) components(component),
                range(2) steps(step)"""
        ],
        CLOSURE,
        None,
    ),
    "closure, ring": (
        [
            """create table edge as select distinct node as a, unnest([node + 1, node * 7 + 3, node * 11 + 5]) % {ring} as b
            from range({ring}) nodes(node)"""
        ],
        CLOSURE,
        None,
    ),
    "distinct": (
        [
            "create table friends as select * from read_csv('{folder}/friends.csv', header = true)",
            "create table start as select * from read_csv('{folder}/start.csv', header = true)",
        ],
        """select count(*) from (select distinct start.user, third.to from start
            join friends first on first.fr = start.user
            join friends second on second.fr = first.to
            join friends third on third.fr = second.to)""",
        None,
    ),
    "join": (
        [
            """create table one as select range as id, scattered(range) % {keys} as k, range % 1000 as x from range({joined})""",
            """create table other as select range as id, scattered(range + {joined}) % {keys} as k, range % 997 as y
            from range({joined})""",
        ],
        "select count(*), sum(x * y) from one join other using (k)",
        None,
    ),
}

# Whether the data is in a file, whether there is a limit, and whether the order of insertion is preserved.
VARIANTS = {
    "enough": (False, False, False),
    "enough ordered": (False, False, True),
    "memory": (False, True, False),
    "file": (True, True, False),
    "file ordered": (True, True, True),
}


class Asked:
    """The data of the bench, and the statements for it."""

    def __init__(self, folder: Path):
        about = json.loads((folder / "spill.json").read_text())
        self.answers, self.limit_mb, self.scale = about["answers"], about["limit_mb"], about["scale"]
        sizes = about["sizes"]
        self.words = sizes | {
            "folder": folder,
            "half": sizes["rows"] // 2,
            "stride": max(sizes["components"], COMPONENTS),
            "keys": max(sizes["joined"] * 2 // 3, 1),
        }

    def statement(self, text: str) -> str:
        return text.format(**self.words)


def megabytes(name: str) -> float:
    """VmRSS or VmHWM of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def load(db, asked: Asked, case: str) -> None:
    db.execute(SCATTERED)
    for statement in CASES[case][0]:
        db.execute(asked.statement(statement))


def measure(options: argparse.Namespace) -> dict:
    """One case in this process. The step `load` only writes the file."""
    import duckdb

    asked = Asked(options.folder)
    in_file, limited, ordered = VARIANTS[options.variants]
    scratch = options.scratch
    db = duckdb.connect(str(scratch / "data.db") if in_file else ":memory:", config={"threads": THREADS})
    db.execute(f"set temp_directory = '{scratch}/temporary'")
    if options.disk_gb:
        db.execute(f"set max_temp_directory_size = '{options.disk_gb}GB'")
    if options.measure == "load" or not in_file:
        load(db, asked, options.only)
    if options.measure == "load":
        db.close()
        return {}
    if limited:
        # What the tables take is of the limit, too.
        held = 0 if in_file else db.execute("select sum(memory_usage_bytes) from duckdb_memory()").fetchone()[0]
        db.execute(f"set memory_limit = '{asked.limit_mb * 2**20 + int(held)}B'")
    db.execute(f"set preserve_insertion_order = {str(ordered).lower()}")
    outcome = timed(db, asked, options, duckdb.Error)
    db.close()
    return {"version": duckdb.__version__, **outcome}


def timed(db, asked: Asked, options: argparse.Namespace, failure: type) -> dict:
    _, query, check = CASES[options.only]
    timer = threading.Timer(options.seconds, db.interrupt)
    timer.daemon = True
    timer.start()
    Path("/proc/self/clear_refs").write_text("5")
    data_mb, start = megabytes("VmRSS"), time.perf_counter()
    try:
        rows = db.execute(asked.statement(query)).fetchall()
    except failure as error:
        return {"error": str(error).splitlines()[0]}
    seconds, peak_mb = time.perf_counter() - start, megabytes("VmHWM") - data_mb
    timer.cancel()
    if check:
        db.execute("reset memory_limit")
        rows = db.execute(check).fetchall()
    answer = [int(number) for row in rows for number in row]
    return {"data_mb": data_mb, "seconds": seconds, "peak_mb": peak_mb, "answer": answer}


def bytes_below(folder: Path) -> int:
    """What the files in a folder take, some of which may go away meanwhile."""
    total = 0
    for path in folder.glob("*") if folder.exists() else []:
        try:
            total += path.stat().st_blocks * 512
        except FileNotFoundError:
            pass
    return total


def measured(options: argparse.Namespace, case: str, variant: str) -> dict:
    """One case in processes of its own, with the most that temporary files took."""
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        command = [sys.executable, __file__, str(options.folder), "--only", case, "--variants", variant, "--scratch", scratch]
        command += ["--seconds", str(options.seconds), "--disk-gb", str(options.disk_gb), MEASURE]
        if VARIANTS[variant][0]:
            subprocess.run([*command, "load"], check=True)
        process = subprocess.Popen([*command, "ask"], stdout=subprocess.PIPE, text=True)
        disk_bytes = 0
        while process.poll() is None:
            disk_bytes = max(disk_bytes, bytes_below(Path(scratch) / "temporary"))
            time.sleep(LOOK_SECONDS)
        line = process.stdout.read()
    outcome = json.loads(line) if line else {"error": f"the process ended with {process.returncode}"}
    return {"disk_mb": disk_bytes / 1e6, **outcome}


def ask_all(options: argparse.Namespace) -> list[dict]:
    asked = Asked(options.folder)
    figures = []
    cases = [case for case in CASES if case in asked.answers]
    wanted = [case for case in cases if not options.only or any(word in case for word in options.only.split(","))]
    for case in wanted:
        for variant in options.variants.split(","):
            run = measured(options, case, variant)
            if "error" in run:
                print(f"DuckDB, {variant}, {case} fails, {run['disk_mb']:.0f} MB on disk: {run['error']}", file=sys.stderr, flush=True)
                continue
            if run["answer"] != asked.answers[case]:
                sys.exit(f"DuckDB, {variant} gives a wrong answer to {case}: {run['answer']} and not {asked.answers[case]}")
            print(
                f"DuckDB, {variant}, {case}: {run['seconds']:.3f} s, {run['peak_mb']:.0f} MB above {run['data_mb']:.0f}, "
                f"{run['disk_mb']:.0f} MB on disk",
                file=sys.stderr,
                flush=True,
            )
            in_file, limited, ordered = VARIANTS[variant]
            # What is compared has the same name: with memory enough, or with a limit.
            named = f"{case}, {asked.limit_mb} MB" if limited else case
            system = f"DuckDB {run['version']}{', file' * in_file}{', ordered' * ordered}"
            for test, unit, value in (
                (named, "s", run["seconds"]),
                (f"{named}, memory above the data", "MB", run["peak_mb"]),
                (f"{named}, temporary files", "MB", run["disk_mb"]),
            ):
                figures.append({"bench": options.bench, "system": system, "test": test, "unit": unit, "value": value})
    return figures


def table(figures: list[dict]) -> str:
    """A row for each test, a column for each system."""
    systems = list(dict.fromkeys(figure["system"] for figure in figures))
    widths = [max(12, len(system) + 2) for system in systems]
    heads = "".join(f"{system:>{width}}" for system, width in zip(systems, widths))
    lines = [f"{'':<44}{heads}"]
    for test, unit in dict.fromkeys((figure["test"], figure["unit"]) for figure in figures):
        values = {figure["system"]: figure["value"] for figure in figures if (figure["test"], figure["unit"]) == (test, unit)}
        cells = (f"{values[system]:.3f}" if unit == "s" else f"{values[system]:.0f}" for system in systems if system in values)
        cells = dict(zip([system for system in systems if system in values], cells))
        row = "".join(f"{cells.get(system, ''):>{width}}" for system, width in zip(systems, widths))
        lines.append(f"{f'{test}, {unit}':<44}{row}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--variants", default="enough,memory,file,file ordered")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--scratch", type=Path)
    parser.add_argument("--disk-gb", type=int, default=0)
    parser.add_argument("--bench", default="spill")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--lines", action="store_true")
    parser.add_argument(MEASURE, choices=["load", "ask"], help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        outcome = measure(options)
        print(json.dumps(outcome) if options.measure == "ask" else "", end="")
        return 0
    figures = ask_all(options)
    before = []
    lines = [json.dumps(figure) + "\n" for figure in figures]
    if options.json:
        if options.json.exists():
            before = [json.loads(line) for line in options.json.read_text().splitlines()]
        with open(options.json, "a") as file:
            file.writelines(lines)
    print("".join(lines) if options.lines else table(before + figures), end="\n"[options.lines :])
    return 0


sys.exit(main())
