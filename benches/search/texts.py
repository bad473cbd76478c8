"""Peers that find texts: tantivy, and SQLite's FTS5."""

import os
import sqlite3
from collections.abc import Callable

from figures import QUERIES, Figures, seconds

QUESTIONS = (("3 common words, OR", "w0 OR w1 OR w2"), ("2 common words, AND", "w0 AND w1"), ("a rare word", "w5000"))


def texts_of(figures: Figures, part: str) -> list[str]:
    return (figures.folder / f"{part}.txt").read_text().split("\n")


def ask(figures: Figures, part: str, system: str, search: Callable[[str], object], times: int) -> None:
    for test, query in QUESTIONS:
        figures.micros(part, system, f"{test}, bm25", lambda: [search(query) for _ in range(times)], times)


def tantivy(figures: Figures, part: str) -> None:
    import tantivy

    texts = texts_of(figures, part)
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("t", stored=False)
    builder.add_integer_field("k", stored=True)
    index = tantivy.Index(builder.build())

    def build() -> None:
        writer = index.writer(200_000_000, os.cpu_count() or 1)
        for k, text in enumerate(texts):
            writer.add_document(tantivy.Document(k=k, t=text))
        writer.commit()
        writer.wait_merging_threads()

    figures.add(part, "tantivy", "build texts", seconds(build), "s")
    index.reload()
    searcher = index.searcher()
    queries = {query: index.parse_query(query, ["t"]) for _, query in QUESTIONS}
    ask(figures, part, "tantivy", lambda query: searcher.search(queries[query], 10, count=False), QUERIES)


def fts5(figures: Figures, part: str) -> None:
    texts = texts_of(figures, part)
    connection = sqlite3.connect(":memory:")
    connection.execute("create virtual table f using fts5(t)")
    insert = "insert into f(rowid, t) values (?, ?)"
    figures.add(part, "FTS5", "build texts", seconds(lambda: connection.executemany(insert, enumerate(texts))), "s")
    select = "select rowid from f where f match ? order by rank limit 10"
    ask(figures, part, "FTS5", lambda query: connection.execute(select, (query,)).fetchall(), 10)
