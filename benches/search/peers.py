#!/usr/bin/env python3
"""The questions of the bench search to usearch, hnswlib, tantivy and SQLite's FTS5.

peers.py FOLDER

FOLDER has the files that the bench writes into COZO_BENCH_SEARCH_DIR. Builds use two threads, searches one. One line for each figure.
"""

import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy

DIM = 64
M = 16
EF_CONSTRUCTION = 100
QUERIES = 200


def report(system: str, test: str, value: float, unit: str) -> None:
    print(f"{system:10} {test:28} {value:12.3f} {unit}", flush=True)


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def recall(found: list[numpy.ndarray], exact: list[set[int]]) -> float:
    return sum(len(exact[i] & set(int(k) for k in keys)) for i, keys in enumerate(found)) / (10 * len(exact))


def search_vectors(folder: Path) -> None:
    import hnswlib
    import usearch.index

    points = numpy.fromfile(folder / "vectors.f32", numpy.float32).reshape(-1, DIM)
    queries = numpy.fromfile(folder / "queries.f32", numpy.float32).reshape(-1, DIM)
    exact = [set(numpy.argsort(((points - query) ** 2).sum(1))[:10].tolist()) for query in queries]
    keys = numpy.arange(len(points))
    theirs = usearch.index.Index(ndim=DIM, metric="l2sq", dtype="f32", connectivity=M, expansion_add=EF_CONSTRUCTION)
    report("usearch", "build vectors", seconds(lambda: theirs.add(keys, points, threads=2)), "s")
    others = hnswlib.Index(space="l2", dim=DIM)
    others.init_index(max_elements=len(points), ef_construction=EF_CONSTRUCTION, M=M)
    report("hnswlib", "build vectors", seconds(lambda: others.add_items(points, keys, num_threads=2)), "s")
    for ef in (32, 64, 128):
        theirs.expansion_search = ef
        others.set_ef(ef)
        for system, search in (
            ("usearch", lambda query: theirs.search(query, 10, threads=1).keys),
            ("hnswlib", lambda query: others.knn_query(query, 10, num_threads=1)[0][0]),
        ):
            found = [search(query) for query in queries]
            took = seconds(lambda: [search(query) for query in queries])
            report(system, f"ef {ef}", took * 1e6 / len(queries), "us")
            report(system, f"ef {ef}, recall", 100 * recall(found, exact), "%")


QUESTIONS = (("3 common words, OR", "w0 OR w1 OR w2"), ("2 common words, AND", "w0 AND w1"), ("a rare word", "w5000"))


def search_texts(folder: Path) -> None:
    import tantivy

    texts = (folder / "texts.txt").read_text().split("\n")
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("t", stored=False)
    builder.add_integer_field("k", stored=True)
    index = tantivy.Index(builder.build())

    def build() -> None:
        writer = index.writer(200_000_000, 2)
        for k, text in enumerate(texts):
            writer.add_document(tantivy.Document(k=k, t=text))
        writer.commit()
        writer.wait_merging_threads()

    report("tantivy", "build texts", seconds(build), "s")
    index.reload()
    searcher = index.searcher()
    connection = sqlite3.connect(":memory:")
    connection.execute("create virtual table f using fts5(t)")
    insert = "insert into f(rowid, t) values (?, ?)"
    report("FTS5", "build texts", seconds(lambda: connection.executemany(insert, enumerate(texts))), "s")
    select = "select rowid from f where f match ? order by rank limit 10"
    for test, text in QUESTIONS:
        query = index.parse_query(text, ["t"])
        took = seconds(lambda: [searcher.search(query, 10, count=False) for _ in range(QUERIES)])
        report("tantivy", f"{test}, bm25", took * 1e6 / QUERIES, "us")
        took = seconds(lambda: [connection.execute(select, (text,)).fetchall() for _ in range(10)])
        report("FTS5", f"{test}, bm25", took * 1e6 / 10, "us")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    search_vectors(Path(sys.argv[1]))
    search_texts(Path(sys.argv[1]))
