"""Peers that find vectors.

| peer | index |
|---|---|
| usearch, hnswlib | HNSW, without filters in C++ |
| lancedb | HNSW over vectors as they are (`IVF_HNSW_FLAT`, one partition), in files; for `exact` a scan |
| sqlite-vec | none: it compares all vectors, filters included |
| numpy | none: differences, squares and sums on one thread; `numpy product` has the squares of the vectors from before |
| CozoDB 0.7.6 | HNSW; too slow for more than some thousand vectors |

DuckDB's extension vss is not in a package registry, and therefore left out.
"""

import os
import tempfile
from collections.abc import Callable

import numpy

from figures import QUERIES, Figures, seconds

DIM = 64
M = 16
EF_CONSTRUCTION = 100
WIDTHS = (32, 64, 128)
FILTERS = {"half pass": 500, "a tenth passes": 100, "1 % passes": 10, "0.1 % passes": 1}
THREADS = os.cpu_count() or 1

Search = Callable[[numpy.ndarray], object]


class Data:
    """The vectors of a part, their tags, and queries with the ten nearest of all and of those that a filter passes."""

    def __init__(self, figures: Figures, part: str) -> None:
        name = "few" if part == "few" else "vectors"
        self.points = numpy.fromfile(figures.folder / f"{name}.f32", numpy.float32).reshape(-1, DIM)
        self.queries = numpy.fromfile(figures.folder / f"{name}-queries.f32", numpy.float32).reshape(-1, DIM)
        self.tags = numpy.arange(len(self.points)) * 7919 % 1000

    def nearest(self, below: int) -> list[set[int]]:
        """Of those with tags below a number."""
        places = numpy.flatnonzero(self.tags < below)
        points = self.points[places]
        return [set(places[numpy.argsort(((points - query) ** 2).sum(1))[:10]].tolist()) for query in self.queries]


def measure(figures: Figures, part: str, system: str, test: str, data: Data, search: Search, below: int = 1000) -> None:
    """Adds the time of a search that gives keys, and its recall."""
    found = [search(query) for query in data.queries]
    figures.micros(part, system, test, lambda: [search(query) for query in data.queries])
    exact = data.nearest(below)
    right = sum(len(near & {int(k) for k in keys}) for near, keys in zip(exact, found, strict=True))
    if part != "exact":
        figures.add(part, system, f"{test}, recall", 100 * right / sum(map(len, exact)), "%")
    elif right < 0.999 * sum(map(len, exact)):
        print(f"{system}: {test} is not exact: {right} of {sum(map(len, exact))}")


def usearch(figures: Figures, part: str) -> None:
    import usearch.index

    data = Data(figures, part)
    keys = numpy.arange(len(data.points))
    index = usearch.index.Index(ndim=DIM, metric="l2sq", dtype="f32", connectivity=M, expansion_add=EF_CONSTRUCTION)
    build = seconds(lambda: index.add(keys, data.points, threads=THREADS))
    figures.add(part, "usearch", "build vectors", build, "s")
    for ef in WIDTHS:
        index.expansion_search = ef
        measure(figures, part, "usearch", f"ef {ef}", data, lambda query: index.search(query, 10, threads=1).keys)


def hnswlib(figures: Figures, part: str) -> None:
    import hnswlib

    data = Data(figures, part)
    index = hnswlib.Index(space="l2", dim=DIM)
    index.init_index(max_elements=len(data.points), ef_construction=EF_CONSTRUCTION, M=M)
    build = seconds(lambda: index.add_items(data.points, numpy.arange(len(data.points)), num_threads=THREADS))
    figures.add(part, "hnswlib", "build vectors", build, "s")
    for ef in WIDTHS:
        index.set_ef(ef)
        search = lambda query: index.knn_query(query, 10, num_threads=1)[0][0]  # noqa: E731
        measure(figures, part, "hnswlib", f"ef {ef}", data, search)


def lancedb(figures: Figures, part: str) -> None:
    import lancedb
    import pyarrow
    from lancedb.index import HnswFlat

    data = Data(figures, part)
    columns = {
        "k": pyarrow.array(range(len(data.points)), pyarrow.int64()),
        "v": pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(data.points.ravel()), DIM),
        "tag": pyarrow.array(data.tags),
    }
    with tempfile.TemporaryDirectory() as folder:
        table = lancedb.connect(folder).create_table("p", pyarrow.table(columns))

        def search(query: numpy.ndarray, ef: int, below: int) -> list[int]:
            asked = table.search(query).select(["k", "_distance"]).limit(10)
            asked = asked.bypass_vector_index() if part == "exact" else asked.ef(ef)
            asked = asked if below == 1000 else asked.where(f"tag < {below}", prefilter=True)
            return asked.to_arrow()["k"].to_pylist()

        filters = FILTERS.items() if part != "few" else ()
        if part == "exact":
            measure(figures, part, "lancedb", "all", data, lambda query: search(query, 64, 1000))
        else:
            config = HnswFlat(distance_type="l2", num_partitions=1, m=M, ef_construction=EF_CONSTRUCTION)
            build = seconds(lambda: table.create_index("v", config=config))
            figures.add(part, "lancedb", "build vectors", build, "s")
            for ef in WIDTHS:
                measure(figures, part, "lancedb", f"ef {ef}", data, lambda query, ef=ef: search(query, ef, 1000))
        for test, below in filters:
            measure(figures, part, "lancedb", test, data, lambda query, n=below: search(query, 64, n), below)


def sqlite_vec(figures: Figures, part: str) -> None:
    import apsw
    import sqlite_vec

    data = Data(figures, part)
    connection = apsw.Connection(":memory:")
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute(f"create virtual table p using vec0(id integer primary key, v float[{DIM}], tag integer)")
    rows = ((i, point.tobytes(), int(tag)) for i, (point, tag) in enumerate(zip(data.points, data.tags, strict=True)))
    with connection:
        connection.executemany("insert into p(id, v, tag) values (?, ?, ?)", rows)

    def search(query: numpy.ndarray, condition: str) -> list[int]:
        select = f"select id from p where v match ? and k = 10{condition}"
        return [row[0] for row in connection.execute(select, (query.tobytes(),))]

    measure(figures, part, "sqlite-vec", "all", data, lambda query: search(query, ""))
    for test, below in FILTERS.items():
        measure(figures, part, "sqlite-vec", test, data, lambda query, n=below: search(query, f" and tag < {n}"), below)


def numpy_scan(figures: Figures, part: str) -> None:
    data = Data(figures, part)
    points, squares = data.points, (data.points**2).sum(1)

    def ten(distances: numpy.ndarray) -> numpy.ndarray:
        places = numpy.argpartition(distances, 10)[:10] if len(distances) > 10 else numpy.arange(len(distances))
        return places[numpy.argsort(distances[places])]

    def scan(query: numpy.ndarray) -> numpy.ndarray:
        differences = points - query
        return ten(numpy.einsum("ij,ij->i", differences, differences))

    def filtered(query: numpy.ndarray, below: int) -> numpy.ndarray:
        places = numpy.flatnonzero(data.tags < below)
        differences = points[places] - query
        return places[ten(numpy.einsum("ij,ij->i", differences, differences))]

    measure(figures, part, "numpy", "all", data, scan)
    measure(figures, part, "numpy product", "all", data, lambda query: ten(squares - 2 * (points @ query)))
    for test, below in FILTERS.items():
        measure(figures, part, "numpy", test, data, lambda query, n=below: filtered(query, n), below)
    to = numpy.empty_like(points)
    figures.micros(part, "numpy copy", "all", lambda: [numpy.copyto(to, points) for _ in range(QUERIES)])
    for system, micros in list(figures.values[part, "all", "us"].items()):
        figures.add(part, system, "all", points.nbytes / micros / 1e3, "GB/s")


def cozo_0_7(figures: Figures, part: str) -> None:
    import cozo_embedded

    data = Data(figures, part)
    db = cozo_embedded.CozoDbPy("mem", "", "{}")
    run = lambda script, **parameters: db.run_script(script, parameters, False)["rows"]  # noqa: E731
    run(f":create p {{k: Int => v: <F32; {DIM}>, tag: Int}}")
    rows = [[i, point.tolist(), int(data.tags[i])] for i, point in enumerate(data.points)]
    for at in range(0, len(rows), 1000):
        run("?[k, v, tag] <- $rows :put p {k => v, tag}", rows=rows[at : at + 1000])
    options = f"dim: {DIM}, fields: [v], distance: L2, m: {M}, ef_construction: {EF_CONSTRUCTION}"
    build = seconds(lambda: run(f"::hnsw create p:i {{ {options} }}"))
    figures.add(part, "CozoDB 0.7.6", "build vectors", build, "s")
    questions = [(f"ef {ef}", ef, 1000) for ef in WIDTHS] + [(test, 64, below) for test, below in FILTERS.items()]
    for test, ef, below in questions:
        condition = "" if below == 1000 else f", filter: tag < {below}"
        script = f"?[k, d] := ~p:i{{k, tag | query: vec($q), k: 10, ef: {ef}, bind_distance: d{condition}}}"
        keys = lambda query, script=script: [row[0] for row in run(script, q=query.tolist())]  # noqa: E731
        measure(figures, part, "CozoDB 0.7.6", test, data, keys, below)
