#!/usr/bin/env python3
"""The nine queries of bench patterns to other databases: DuckDB, SQLite and Ladybug, the successor of Kuzu, from Python.

patterns.py FOLDER [--only duckdb,sqlite,ladybug] [--bench NAME] [--seconds 60] [--json FILE] [--lines]

FOLDER has the files of CSV and counts.txt, as the bench writes them into COZO_BENCH_PATTERNS_CSV. Each system has two threads for a
query, but SQLite has one, and everything in memory. A count that is not that of counts.txt ends the run. A query that takes longer than
--seconds has no figure. NAME is what figures are told to be of. FILE may have figures of the bench, as COZO_BENCH_JSON names it: the
table shows them, too, and those of the peers are appended as lines of JSON. --lines prints these instead of the table. A peer that
cannot be had says so on stderr and is left out.
"""

import argparse
import csv
import json
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

THREADS = 2
# So often a query is asked, and once if it takes longer than so many seconds: as in the bench.
RUNS = 3
SLOW_SECONDS = 5
BUFFER_BYTES = 8 << 30

# The relations: the columns of the key, and the others.
RELATIONS = {
    "country": ("id", ""),
    "city": ("id", "country"),
    "tag_class": ("id", ""),
    "tag": ("id", "class"),
    "person": ("id", "city"),
    "forum": ("id", "moderator"),
    "post": ("id", "creator, forum"),
    "comment": ("id", "creator, reply_of"),
    "message": ("id", "creator"),
    "knows": ("a, b", ""),
    "has_interest": ("person, tag", ""),
    "has_member": ("forum, person", ""),
    "has_tag": ("message, tag", ""),
    "likes": ("person, message", ""),
}
INDICES = (
    "city(country)", "person(city)", "tag(class)", "post(creator)", "post(forum)", "comment(creator)", "comment(reply_of)",
    "message(creator)", "has_interest(tag)", "has_member(person)", "has_tag(tag)", "likes(message)",
)  # fmt: skip

SQL = {
    "q1": """select count(*) from country
        join city on city.country = country.id
        join person on person.city = city.id
        join has_member on has_member.person = person.id
        join forum on forum.id = has_member.forum
        join post on post.forum = forum.id
        join comment on comment.reply_of = post.id
        join has_tag on has_tag.message = comment.id
        join tag on tag.id = has_tag.tag
        join tag_class on tag_class.id = tag.class""",
    "q2": """select count(*) from knows
        join comment on comment.creator = knows.a
        join post on post.id = comment.reply_of and post.creator = knows.b""",
    "q3": """select count(*) from country
        join city city1 on city1.country = country.id
        join city city2 on city2.country = country.id
        join city city3 on city3.country = country.id
        join person person1 on person1.city = city1.id
        join person person2 on person2.city = city2.id
        join person person3 on person3.city = city3.id
        join knows knows1 on knows1.a = person1.id and knows1.b = person2.id
        join knows knows2 on knows2.a = person2.id and knows2.b = person3.id
        join knows knows3 on knows3.a = person3.id and knows3.b = person1.id""",
    "q4": """select count(*) from has_tag
        join message on message.id = has_tag.message
        join likes on likes.message = message.id
        join comment on comment.reply_of = message.id""",
    "q5": """select count(*) from has_tag tag1
        join comment on comment.reply_of = tag1.message
        join has_tag tag2 on tag2.message = comment.id
        where tag1.tag <> tag2.tag""",
    "q6": """select count(*) from knows knows1
        join knows knows2 on knows2.a = knows1.b
        join has_interest on has_interest.person = knows2.b
        where knows1.a <> knows2.b""",
    "q7": """select count(*) from has_tag
        join message on message.id = has_tag.message
        left join likes on likes.message = message.id
        left join comment on comment.reply_of = message.id""",
    "q8": """select count(*) from has_tag tag1
        join comment on comment.reply_of = tag1.message
        join has_tag tag2 on tag2.message = comment.id
        where tag1.tag <> tag2.tag
        and not exists (select * from has_tag tag3 where tag3.message = comment.id and tag3.tag = tag1.tag)""",
    "q9": """select count(*) from knows knows1
        join knows knows2 on knows2.a = knows1.b
        join has_interest on has_interest.person = knows2.b
        where knows1.a <> knows2.b
        and not exists (select * from knows knows3 where knows3.a = knows1.a and knows3.b = knows2.b)""",
}

# Tables of nodes, each with a file that has an id.
NODES = {
    "Country": "country", "City": "city", "TagClass": "tag_class", "Tag": "tag", "Person": "person", "Forum": "forum", "Post": "post",
    "Comment": "comment",
}  # fmt: skip
# Tables of edges: their ends, and the rows in SQL over the files.
EDGES = {
    "IsPartOf": [("City", "Country", "select id, country from city")],
    "IsLocatedIn": [("Person", "City", "select id, city from person")],
    "HasType": [("Tag", "TagClass", "select id, class from tag")],
    "Knows": [("Person", "Person", "select a, b from knows")],
    "HasInterest": [("Person", "Tag", "select person, tag from has_interest")],
    "HasMember": [("Forum", "Person", "select forum, person from has_member")],
    "ContainerOf": [("Forum", "Post", "select forum, id from post")],
    "HasCreator": [("Post", "Person", "select id, creator from post"), ("Comment", "Person", "select id, creator from comment")],
    "ReplyOf": [
        ("Comment", "Post", "select id, reply_of from comment semi join post on post.id = reply_of"),
        ("Comment", "Comment", "select id, reply_of from comment anti join post on post.id = reply_of"),
    ],
    "HasTag": [
        ("Post", "Tag", "select message, tag from has_tag semi join post on post.id = message"),
        ("Comment", "Tag", "select message, tag from has_tag anti join post on post.id = message"),
    ],
    "Likes": [
        ("Person", "Post", "select person, message from likes semi join post on post.id = message"),
        ("Person", "Comment", "select person, message from likes anti join post on post.id = message"),
    ],
}
TAGS_OF_REPLIES = "match (t1:Tag)<-[:HasTag]-(m:Post:Comment)<-[:ReplyOf]-(c:Comment)-[:HasTag]->(t2:Tag) where t1.id <> t2.id"
TWO_STEPS = "match (p1:Person)-[:Knows]->(p2:Person)-[:Knows]->(p3:Person)-[:HasInterest]->(t:Tag) where p1.id <> p3.id"
CYPHER = {
    "q1": """match (:Country)<-[:IsPartOf]-(:City)<-[:IsLocatedIn]-(:Person)<-[:HasMember]-(:Forum)-[:ContainerOf]->(:Post)
        <-[:ReplyOf]-(:Comment)-[:HasTag]->(:Tag)-[:HasType]->(:TagClass)""",
    "q2": """match (p1:Person)-[:Knows]->(p2:Person),
        (p1)<-[:HasCreator]-(:Comment)-[:ReplyOf]->(:Post)-[:HasCreator]->(p2)""",
    "q3": """match (country:Country),
        (p1:Person)-[:IsLocatedIn]->(:City)-[:IsPartOf]->(country),
        (p2:Person)-[:IsLocatedIn]->(:City)-[:IsPartOf]->(country),
        (p3:Person)-[:IsLocatedIn]->(:City)-[:IsPartOf]->(country),
        (p1)-[:Knows]->(p2)-[:Knows]->(p3)-[:Knows]->(p1)""",
    "q4": """match (:Tag)<-[:HasTag]-(m:Post:Comment)-[:HasCreator]->(:Person),
        (m)<-[:Likes]-(:Person), (m)<-[:ReplyOf]-(:Comment)""",
    "q5": TAGS_OF_REPLIES,
    "q6": TWO_STEPS,
    "q7": """match (:Tag)<-[:HasTag]-(m:Post:Comment)-[:HasCreator]->(:Person)
        optional match (m)<-[:Likes]-(:Person) optional match (m)<-[:ReplyOf]-(:Comment)""",
    "q8": f"{TAGS_OF_REPLIES} and not exists {{ match (c)-[:HasTag]->(t1) }}",
    "q9": f"{TWO_STEPS} and not exists {{ match (p1)-[:Knows]->(p3) }}",
}


class Asked:
    """What is asked of the systems, and what they have needed."""

    def __init__(self, folder: Path, bench: str, seconds: float):
        self.folder, self.bench, self.seconds = folder, bench, seconds
        lines = (folder / "counts.txt").read_text().splitlines()
        self.counts = {name: int(count) for name, count in map(str.split, lines)}
        self.figures: list[dict] = []

    def file(self, relation: str) -> Path:
        return self.folder / f"{relation}.csv"

    def ask(self, system: str, queries: dict[str, str], run: Callable[[str], int | None]) -> None:
        """`run` gives a count, or nothing if it was interrupted."""
        for name, query in queries.items():
            times = []
            while len(times) < RUNS:
                start = time.perf_counter()
                count = run(query)
                times.append(time.perf_counter() - start)
                if count is None:
                    times = []
                    break
                if count != self.counts[name]:
                    sys.exit(f"{system} gives a wrong answer to {name}: {count} and not {self.counts[name]}")
                if times[0] > SLOW_SECONDS:
                    break
            value = statistics.median(times) * 1e3 if times else None
            print(f"{system} {name}: {f'{value:.1f} ms' if times else self.over()}", file=sys.stderr, flush=True)
            self.figures.append({"bench": self.bench, "system": system, "test": name, "unit": "ms", "value": value})

    def over(self) -> str:
        return f"over {self.seconds:g} s"

    def interrupting(self, interrupt: Callable[[], None], execute: Callable[[str], int], error: type) -> Callable[[str], int | None]:
        """Runs a query, and interrupts it when its time is up."""

        def run(query: str) -> int | None:
            over = threading.Event()
            timer = threading.Timer(self.seconds, lambda: (over.set(), interrupt()))
            timer.start()
            try:
                return execute(query)
            except error:
                if not over.is_set():
                    raise
                return None
            finally:
                timer.cancel()

        return run


def duckdb(asked: Asked) -> None:
    import duckdb as module

    db = module.connect(config={"threads": THREADS})
    for relation in RELATIONS:
        db.execute(f"create table {relation} as select * from read_csv('{asked.file(relation)}', header = true)")
    execute = lambda query: db.execute(query).fetchone()[0]
    asked.ask(f"DuckDB {module.__version__}", SQL, asked.interrupting(db.interrupt, execute, module.InterruptException))


def sqlite(asked: Asked) -> None:
    import sqlite3

    # Interrupted from another thread.
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    for relation, (keys, values) in RELATIONS.items():
        columns = ", ".join(f"{column} int" for column in ", ".join(filter(None, (keys, values))).split(", "))
        db.execute(f"create table {relation}({columns}, primary key({keys})) without rowid")
        db.execute("begin")
        with open(asked.file(relation), newline="") as file:
            rows = csv.reader(file)
            places = ", ".join("?" for _ in next(rows))
            db.executemany(f"insert into {relation} values({places})", rows)
        db.execute("commit")
    for number, index in enumerate(INDICES):
        db.execute(f"create index reverse{number} on {index}")
    db.execute("analyze")
    execute = lambda query: db.execute(query).fetchone()[0]
    asked.ask(f"SQLite {sqlite3.sqlite_version}", SQL, asked.interrupting(db.interrupt, execute, sqlite3.OperationalError))


def ladybug(asked: Asked) -> None:
    import ladybug as module

    database = module.Database(":memory:", buffer_pool_size=BUFFER_BYTES, max_num_threads=THREADS)
    db = module.Connection(database, num_threads=THREADS)
    fill(db, asked)
    db.set_query_timeout(int(asked.seconds * 1e3))

    def run(query: str) -> int | None:
        try:
            return db.execute(f"{query} return count(*)").get_next()[0]
        except RuntimeError as error:
            if "nterrupted" not in str(error):
                raise
            return None

    asked.ask(f"Ladybug {module.__version__}", CYPHER, run)


def fill(db, asked: Asked) -> None:
    """Makes nodes and edges. DuckDB writes the files of edges, of which some relations have several kinds."""
    import duckdb as module

    files = module.connect()
    for relation in RELATIONS:
        files.execute(f"create view {relation} as select * from read_csv('{asked.file(relation)}', header = true)")
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/rows.csv"

        def copy(table: str, rows: str, options: str = "") -> None:
            files.execute(f"copy ({rows}) to '{path}' (header true)")
            db.execute(f'copy {table} from "{path}" (header = true{options})')

        for table, relation in NODES.items():
            db.execute(f"create node table {table}(id int64, primary key(id))")
            copy(table, f"select id from {relation}")
        for table, kinds in EDGES.items():
            ends = ", ".join(f"from {source} to {target}" for source, target, _ in kinds)
            db.execute(f"create rel table {table}({ends})")
            for source, target, rows in kinds:
                copy(table, rows, f", from = '{source}', to = '{target}'" if len(kinds) > 1 else "")


PEERS = {"duckdb": duckdb, "sqlite": sqlite, "ladybug": ladybug}


def table(figures: list[dict], over: str) -> str:
    """A row for each test, a column for each system."""
    systems = list(dict.fromkeys(figure["system"] for figure in figures))
    text = f"{'ms':<12}" + "".join(f"{system:>24}" for system in systems)
    for test in dict.fromkeys(figure["test"] for figure in figures if figure["unit"] == "ms"):
        values = {figure["system"]: figure["value"] for figure in figures if figure["test"] == test}
        cell = lambda system: "" if system not in values else over if values[system] is None else f"{values[system]:.1f}"
        text += f"\n{test:<12}" + "".join(f"{cell(system):>24}" for system in systems)
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default=",".join(PEERS))
    parser.add_argument("--bench", default="patterns")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--lines", action="store_true")
    options = parser.parse_args()
    asked = Asked(options.folder, options.bench, options.seconds)
    for name in options.only.split(","):
        try:
            PEERS[name](asked)
        except Exception as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    before = []
    lines = [json.dumps(figure) + "\n" for figure in asked.figures if figure["value"] is not None]
    if options.json:
        if options.json.exists():
            before = [json.loads(line) for line in options.json.read_text().splitlines()]
        with open(options.json, "a") as file:
            file.writelines(lines)
    print("".join(lines) if options.lines else table(before + asked.figures, asked.over()), end="\n"[options.lines :])
    return 0


sys.exit(main())
