#!/usr/bin/env python3
"""The questions of the benches pokec and recursion to other databases: DuckDB, Kuzu, igraph and SQLite, from Python.

peers.py [--pokec FOLDER [--bench NAME]] [--recursion] [--only duckdb,kuzu,igraph,sqlite] [--seconds 1]

FOLDER has users.csv and friends.csv, as bench pokec writes them into COZO_BENCH_POKEC_CSV; NAME is what figures are told to be of. One line of JSON for each figure, in the
form of the benches. Answers are compared with those worked out from the files, or known beforehand, before they are timed. A peer
that cannot do something says so on stderr and is left out.
"""

import argparse
import csv
import json
import random
import sqlite3
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy

# So many users are asked about in turn.
ASKED = 100
STEPS = (1, 2, 3, 4)


class Network:
    """The network in the files."""

    def __init__(self, folder: Path, bench: str):
        import duckdb

        self.bench = bench
        self.users_file, self.friends_file = folder / "users.csv", folder / "friends.csv"
        with open(self.users_file) as file:
            number = lambda text: int(text) if text else None
            rows = (list(row.values()) for row in csv.DictReader(file))
            self.users = [(int(uid), int(done), gender or None, number(age)) for uid, done, gender, age in rows]
        self.uids = numpy.array([user[0] for user in self.users])
        friends = duckdb.sql(f"select fr, \"to\" from read_csv('{self.friends_file}', header = true) order by all").fetchnumpy()
        # The numbers of both, and their places among the users.
        self.sources, self.targets = friends["fr"], friends["to"]
        self.source_places, self.target_places = (numpy.searchsorted(self.uids, ends) for ends in (self.sources, self.targets))
        self.begins = numpy.searchsorted(self.source_places, numpy.arange(len(self.uids) + 1))
        self.rows = len(self.users) + len(self.sources)
        self.asked = random.Random(42).choices([user[0] for user in self.users], k=ASKED)
        ages = [user[3] for user in self.users]
        self.aggregations = {
            "aggregation/group": len(set(ages)),
            "aggregation/count": 1,
            "aggregation/filter": len({age for age in ages if age is not None and age >= 18}),
            "aggregation/min_max": 1,
        }

    def place(self, uid: int) -> int:
        """Where a user stands among all."""
        return int(numpy.searchsorted(self.uids, uid))

    def reached(self, uid: int, steps: int) -> list[numpy.ndarray]:
        """The places of the users at the end of a walk of none, one, ... so many steps."""
        levels = [numpy.array([self.place(uid)])]
        for _ in range(steps):
            ends = [self.target_places[self.begins[place] : self.begins[place + 1]] for place in levels[-1]]
            levels.append(numpy.unique(numpy.concatenate(ends)) if ends else levels[-1])
        return levels

    def ends(self, uid: int, steps: int) -> int:
        """How many users are at the end of a walk of so many steps."""
        return len(self.reached(uid, steps)[-1])

    def within(self, uid: int, steps: int) -> int:
        """How many users are at most so many steps away, with the one asked about."""
        return len(numpy.unique(numpy.concatenate(self.reached(uid, steps))))


class Peer:
    """What is measured of one system, in bench recursion if there is no network."""

    def __init__(self, name: str, network: Network | None, seconds: float):
        self.name, self.network, self.seconds = name, network, seconds

    def emit(self, test: str, unit: str, value: float) -> None:
        line = {"bench": self.network.bench if self.network else "recursion", "system": self.name, "test": test, "unit": unit, "value": value}
        print(json.dumps(line), flush=True)

    def loaded(self, test: str, start: float) -> None:
        """Users and friendships are there, the latter in one relation."""
        self.emit(test, "rows/s", self.network.rows / (time.perf_counter() - start))

    def repeated(self, test: str, ask: Callable[[], int], expected: int) -> None:
        self.check(test, ask(), expected)
        times, start = [], time.perf_counter()
        while len(times) < 3 or time.perf_counter() - start < self.seconds:
            before = time.perf_counter()
            ask()
            times.append(time.perf_counter() - before)
        self.emit(test, "ms", statistics.median(times) * 1e3)

    def expand(self, steps: int, ask: Callable[[int], int], expected: Callable[[int, int], int] | None = None) -> None:
        """`ask` gives how many users it got."""
        test = f"expand/{steps}"
        for uid in self.network.asked[:5]:
            self.check(test, ask(uid), (expected or self.network.ends)(uid, steps))
        start, asked = time.perf_counter(), 0
        while asked < 5 or time.perf_counter() - start < self.seconds:
            ask(self.network.asked[asked % ASKED])
            asked += 1
        self.emit(test, "ms", (time.perf_counter() - start) * 1e3 / asked)

    def rate(self, test: str, run: Callable[[int], object], numbers: list[int]) -> None:
        start, done = time.perf_counter(), 0
        while time.perf_counter() - start < self.seconds:
            run(numbers[done % len(numbers)])
            done += 1
        self.emit(f"{test}, threads 1", "queries/s", done / (time.perf_counter() - start))

    def check(self, test: str, got: int, expected: int) -> None:
        if got != expected:
            sys.exit(f"{self.name} gives a wrong answer to {test}: {got} and not {expected}")


def sql_aggregations() -> dict[str, str]:
    return {
        "aggregation/group": "select age, count(uid) from users group by age",
        "aggregation/count": "select count(uid), count(age) from users",
        "aggregation/filter": "select age, count(age) from users where age >= 18 group by age",
        "aggregation/min_max": "select min(uid), max(uid), avg(uid) from users",
    }


def sql_expansion(steps: int) -> str:
    query = "select distinct target from friends where fr = ?"
    for _ in range(1, steps):
        query = f"select distinct f.target from ({query}) l join friends f on f.fr = l.target"
    return query


PROFILE = "select cmpl_pct, gender, age from users where uid = ?"


def duckdb(network: Network, seconds: float) -> None:
    import duckdb as module

    peer, db = Peer(f"DuckDB {module.__version__}", network, seconds), module.connect()
    start = time.perf_counter()
    db.execute(f"create table users as select * from read_csv('{network.users_file}', header = true)")
    db.execute(f"create table friends as select fr, \"to\" as target from read_csv('{network.friends_file}', header = true)")
    peer.loaded("import/csv", start)
    db.execute("create index by_uid on users(uid)")
    db.execute("create index by_fr on friends(fr)")
    for test, query in sql_aggregations().items():
        peer.repeated(test, lambda: len(db.execute(query).fetchall()), network.aggregations[test])
    for steps in STEPS:
        query = sql_expansion(steps)
        peer.expand(steps, lambda uid: len(db.execute(query, [uid]).fetchnumpy()["target"]))
    peer.rate("read", lambda uid: db.execute(PROFILE, [uid]).fetchall(), network.asked)


def kuzu(network: Network, seconds: float) -> None:
    import kuzu as module

    # Its last version would rather have one call, which plans each query anew.
    warnings.simplefilter("ignore", DeprecationWarning)
    peer = Peer(f"Kuzu {module.__version__}", network, seconds)
    with tempfile.TemporaryDirectory() as folder:
        db = module.Connection(module.Database(str(Path(folder) / "kuzu")))
        start = time.perf_counter()
        db.execute("create node table User(uid int64, cmpl_pct int64, gender string, age int64, primary key(uid))")
        db.execute("create rel table Friend(from User to User)")
        db.execute(f'copy User from "{network.users_file}" (header = true)')
        db.execute(f'copy Friend from "{network.friends_file}" (header = true)')
        peer.loaded("import/csv", start)
        aggregations = {
            "aggregation/group": "match (u:User) return u.age, count(u.uid)",
            "aggregation/count": "match (u:User) return count(u.uid), count(u.age)",
            "aggregation/filter": "match (u:User) where u.age >= 18 return u.age, count(u.age)",
            "aggregation/min_max": "match (u:User) return min(u.uid), max(u.uid), avg(u.uid)",
        }
        for test, query in aggregations.items():
            peer.repeated(test, lambda: len(db.execute(query).get_all()), network.aggregations[test])
        for steps in STEPS:
            path = "(u:User {uid: $uid})" + "".join(f"-[:Friend]->(n{n}:User)" for n in range(1, steps + 1))
            expansion = db.prepare(f"match {path} return distinct n{steps}.uid")
            peer.expand(steps, lambda uid: len(db.execute(expansion, {"uid": uid}).get_all()))
        profile = db.prepare("match (u:User {uid: $uid}) return u.cmpl_pct, u.gender, u.age")
        peer.rate("read", lambda uid: db.execute(profile, {"uid": uid}).get_all(), network.asked)


def igraph(network: Network, seconds: float) -> None:
    import igraph as module

    peer = Peer(f"igraph {module.__version__}", network, seconds)
    edges = numpy.column_stack([network.source_places, network.target_places])
    # PageRank goes on until the scores hardly change.
    start = time.perf_counter()
    graph = module.Graph(n=len(network.users), edges=edges, directed=True)
    peer.check("page_rank/first", len(graph.pagerank(damping=0.85)), len(network.users))
    peer.emit("page_rank/first", "rows/s", len(edges) / (time.perf_counter() - start))
    peer.repeated("page_rank/again", lambda: len(graph.pagerank(damping=0.85)), len(network.users))
    for steps in STEPS:
        within = lambda uid: len(graph.neighborhood(network.place(uid), order=steps, mode="out"))
        peer.expand(steps, within, network.within)


def sqlite(network: Network, seconds: float) -> None:
    peer = Peer(f"SQLite {sqlite3.sqlite_version}", network, seconds)
    with tempfile.TemporaryDirectory() as folder:
        db = sqlite3.connect(Path(folder) / "sqlite.db", isolation_level=None)
        # What was committed survives the death of the process, as with durability "os".
        db.execute("pragma journal_mode = wal")
        db.execute("pragma synchronous = off")
        db.execute("create table users(uid integer primary key, cmpl_pct int, gender text, age int)")
        db.execute("create table friends(fr int, target int, primary key(fr, target)) without rowid")
        friendships = list(zip(network.sources.tolist(), network.targets.tolist()))
        start = time.perf_counter()
        for statement, rows in (("users values(?, ?, ?, ?)", network.users), ("friends values(?, ?)", friendships)):
            db.execute("begin")
            db.executemany(f"insert into {statement}", rows)
            db.execute("commit")
        peer.loaded("import/bulk", start)
        for test, query in sql_aggregations().items():
            peer.repeated(test, lambda: len(db.execute(query).fetchall()), network.aggregations[test])
        for steps in STEPS:
            query = sql_expansion(steps)
            peer.expand(steps, lambda uid: len(db.execute(query, (uid,)).fetchall()))
        peer.rate("read", lambda uid: db.execute(PROFILE, (uid,)).fetchone(), network.asked)
        write = "insert or replace into users values(?, 0, null, null)"
        new = [len(network.users) * 2 + number for number in random.Random(7).choices(range(10**6), k=10_000)]
        peer.rate("write", lambda uid: db.execute(write, (uid,)), new)


Pairs = list[tuple[int, int]]


def chains(number: int, nodes: int = 500) -> Pairs:
    return [(chain * nodes + step, chain * nodes + step + 1) for chain in range(number) for step in range(nodes - 1)]


def grid(side: int) -> Pairs:
    nodes = [(x, y) for y in range(side) for x in range(side)]
    right = [(y * side + x, y * side + x + 1) for x, y in nodes if x + 1 < side]
    return right + [(y * side + x, y * side + side + x) for x, y in nodes if y + 1 < side]


def tree(levels: int) -> Pairs:
    """Children and their parents: node n has the children 2n and 2n + 1."""
    return [(2 * parent + child, parent) for parent in range(1, 1 << levels) for child in range(2)]


CLOSURE = """with recursive path(a, b) as (
    select a, b from edge union select path.a, edge.b from path join edge on path.b = edge.a) select count(*) from path"""
SAME_GENERATION = """with recursive same(x, y) as (
    select a.a, b.a from edge a join edge b on a.b = b.b
    union select a.a, b.a from same join edge a on a.b = same.x join edge b on b.b = same.y) select count(*) from same"""


def recursion(peer: Peer, execute: Callable, load: Callable[[Pairs], None]) -> None:
    """The questions of bench recursion to a system that has recursive common table expressions. `load` fills `edge(a, b)`."""
    count = lambda query: lambda: execute(query).fetchall()[0][0]
    for number in (2, 4, 8):
        load(chains(number))
        pairs = number * 500 * 499 // 2
        peer.repeated(f"closure_of_chains/{pairs}", count(CLOSURE), pairs)
    for side in (31, 37, 44):
        load(grid(side))
        pairs = (side * (side + 1) // 2) ** 2 - side * side
        peer.repeated(f"closure_of_a_grid/{pairs}", count(CLOSURE), pairs)
    for levels in (7, 8, 9):
        load(tree(levels))
        pairs = sum(1 << (2 * level) for level in range(1, levels + 1))
        peer.repeated(f"same_generation/{pairs}", count(SAME_GENERATION), pairs)
    for steps in (2500, 5000, 10000):
        query = f"with recursive n(x) as (select 0 union select x + 1 from n where x < {steps}) select max(x) from n"
        peer.repeated(f"steps/{steps}", count(query), steps)


def duckdb_recursion(seconds: float) -> None:
    import duckdb as module

    db = module.connect()

    def load(pairs: Pairs) -> None:
        first, second = ([pair[place] for pair in pairs] for place in range(2))
        db.execute("create or replace table edge as select unnest($1::int[]) a, unnest($2::int[]) b", [first, second])

    recursion(Peer(f"DuckDB {module.__version__}", None, seconds), db.execute, load)


def sqlite_recursion(seconds: float) -> None:
    db = sqlite3.connect(":memory:", isolation_level=None)

    def load(pairs: Pairs) -> None:
        db.execute("drop table if exists edge")
        db.execute("create table edge(a int, b int, primary key(a, b)) without rowid")
        db.executemany("insert into edge values(?, ?)", pairs)
        db.execute("create index by_b on edge(b)")

    recursion(Peer(f"SQLite {sqlite3.sqlite_version}", None, seconds), db.execute, load)


PEERS = {"duckdb": duckdb, "kuzu": kuzu, "igraph": igraph, "sqlite": sqlite}
RECURSIVE_PEERS = {"duckdb": duckdb_recursion, "sqlite": sqlite_recursion}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pokec", type=Path, metavar="FOLDER")
    parser.add_argument("--bench", default="pokec")
    parser.add_argument("--recursion", action="store_true")
    parser.add_argument("--only", default=",".join(PEERS))
    parser.add_argument("--seconds", type=float, default=1)
    options = parser.parse_args()
    network = Network(options.pokec, options.bench) if options.pokec else None
    for name in options.only.split(","):
        try:
            if network:
                PEERS[name](network, options.seconds)
            if options.recursion and name in RECURSIVE_PEERS:
                RECURSIVE_PEERS[name](options.seconds)
        except Exception as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    return 0


sys.exit(main())
