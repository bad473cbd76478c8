"""The package `cozo`: what its users write, with the data that they have."""

import asyncio
import datetime as dt
import doctest
import importlib
import json
import os
import pickle
import queue
import random
import subprocess
import sys
import uuid
import warnings

import cozo
import pytest
from cozo_embedded import CozoDbPy

numpy = pytest.importorskip("numpy")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

PEOPLE = [{"name": "Ann", "age": 31}, {"name": "Bea", "age": 28}]
NOON = dt.datetime(2024, 5, 1, 12, tzinfo=dt.timezone.utc)


@pytest.fixture
def db():
    with cozo.connect() as opened:
        yield opened


def types(db, relation):
    return {column.name: column.type for column in db.columns(relation)}


def test_microseconds_are_kept(db):
    draw = random.Random(5)
    moments = [dt.datetime(1700, 1, 1) + dt.timedelta(microseconds=draw.randrange(540 * 365 * 86_400_000_000)) for _ in range(5000)]
    data = {"k": list(range(5000)), "at": moments}
    for kind, make in {"rows": lambda: data, "pandas": lambda: pandas.DataFrame(data), "polars": lambda: polars.DataFrame(data), "arrow": lambda: pyarrow.table(data)}.items():
        db.create(kind, make(), key="k")
        assert [at.replace(tzinfo=None) for at in db[kind].pl(times="at")["at"]] == moments, kind
        told = db.run(f"?[k, m] := *{kind}{{k, at}}, m = to_micros(at) :order k")["m"]
        assert told == [(at - dt.datetime(1970, 1, 1)) // dt.timedelta(microseconds=1) for at in moments], kind


def test_integers_keep_their_digits_or_are_refused(db):
    assert db.run("?[x] := x = $x", x=2**70).value() == 2.0**70
    with pytest.raises(cozo.Error):
        db.run("?[x] := x = $x", x=2**70 + 1)


def test_empty_results_have_types(db):
    db.run(":create t {k: Int => name: String, score: Float, v: <F32; 2>}")
    result = db.run("?[k, name, score, v, n] := *t{k, name, score, v}, k > 5, n = k * 2")
    types = [str(kind) for kind in result.arrow().schema.types]
    assert types == ["int64", "string", "double", "fixed_size_list<item: float>[2]", "null"]
    frame = result.df()
    assert len(frame) == 0 and [str(frame[name].dtype) for name in ("k", "score")] == ["int64", "float64"]
    assert result.pl().schema["name"] == polars.String
    assert str(db.run("?[name, count(k)] := *t{k, name}").arrow().schema.types[1]) == "int64"


@pytest.mark.skipif(sys.platform != "linux", reason="Linux says how much memory a process had at most")
def test_streams_hold_what_memory_does_not():
    """In another process, whose memory is looked at: three million rows are hundreds of megabytes as tuples."""
    program = """
import re, threading
import cozo, pyarrow
peak = lambda: int(re.search("VmHWM:\\s*(\\d+) kB", open("/proc/self/status").read())[1]) // 1024
db = cozo.connect(query_memory_mb=8)
before = peak()
stream = db.stream("?[x, t] := a in int_range(3000), b in int_range(1000), x = a * 1000 + b, t = to_string(b % 10)")
assert stream.columns == ["x", "t"] and stream.warnings == []
assert sum(x for x, _ in stream) == 3000000 * 2999999 // 2
batches = stream.arrow()
assert [str(field.type) for field in batches.schema] == ["int64", "string"]
assert sum(batch.num_rows for batch in batches) == 3000000
# Threads that read one iterator have each batch once.
rows, sums = stream._native.batches(), []
threads = [threading.Thread(target=lambda: sums.append(sum(x for batch in rows for x, _ in batch))) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert sum(sums) == 3000000 * 2999999 // 2
db.close()
assert next(iter(stream)) == (0, "0")
assert peak() - before < 150, (before, peak())
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=600)


def test_streams_have_one_type_for_a_column(db):
    stream = db.stream("?[x, y] := x in int_range(5000), y = if(x < 4000, x, x + 0.5)")
    table = pyarrow.table(stream)
    assert table.schema.field("y").type == pyarrow.float64() and table["y"].to_pylist()[3999:4001] == [3999.0, 4000.5]
    assert polars.DataFrame(stream).height == 5000
    assert list(db.stream("?[x, y] := x in $xs, y = 2", xs=[1]).dicts()) == [{"x": 1, "y": 2}]
    db.create("person", PEOPLE, key="name")
    empty = db.stream("?[name, age] := *person{name, age}, age > 99")
    assert list(empty) == [] and [str(kind) for kind in empty.arrow().schema.types] == ["string", "int64"]
    with pytest.raises(cozo.Error):
        db.stream("?[k] <- [[1]] :create t {k}")


def test_files_are_read_in_scripts(db, tmp_path):
    frame = polars.DataFrame({"id": [1, 2], "Full Name": ["Ann", None], "total": [1.5, 2.0]})
    for name, write in {"ReadParquet": frame.write_parquet, "ReadCsv": frame.write_csv, "ReadJsonLines": frame.write_ndjson}.items():
        path = tmp_path / f"{name}.data"
        write(path)
        rows = db.run(f"?[t, n] <~ {name}(path: $path, columns: ['total', 'Full Name'])", path=str(path)).rows
        assert sorted(rows) == [(1.5, "Ann"), (2.0, None)], name


def test_engines_and_paths(tmp_path):
    with cozo.connect() as db:
        assert (db.engine, db.path) == ("mem", None) and repr(db) == "<cozo.Database mem in memory>"
    assert repr(db).endswith(", closed>")
    assert cozo.connect(":memory:").engine == "mem"
    path = tmp_path / "app.db"
    with cozo.connect(path, durability="disk", cache_mb=1) as db:
        assert (db.engine, db.path) == ("sqlite", str(path)) and str(path) in repr(db)
        db.create("t", PEOPLE, key="name")
    with cozo.connect(path, read_only=True) as db:
        assert db["t"].dicts() == PEOPLE
        with pytest.raises(cozo.Error):
            db.put("t", {"name": "Cid", "age": 1})
    with pytest.raises(cozo.Error) as raised:
        db["t"]
    assert raised.value.code == "db::closed"
    for wrong in (lambda: cozo.connect(engine="nope"), lambda: cozo.connect(path, colour=1), lambda: cozo.connect(tmp_path)):
        with pytest.raises(cozo.Error):
            wrong()
    assert cozo.__version__.count(".") == 2


def test_a_folder_of_rocksdb(tmp_path):
    path = tmp_path / "rocks"
    try:
        db = cozo.connect(path, engine="rocksdb")
    except cozo.Error as error:
        assert error.code == "db::unknown_engine"
        pytest.skip("built without RocksDB")
    db.create("t", PEOPLE, key="name")
    db.close()
    with cozo.connect(path) as db:
        assert db.engine == "rocksdb" and len(db["t"]) == 2


def test_results(db):
    result = db.run("?[x, y] := x in $xs, y = x * x", xs=[1, 2, 3])
    assert result.columns == ["x", "y"] and result.rows == [(1, 1), (2, 4), (3, 9)] == list(result)
    assert len(result) == 3 and result[-1] == (3, 9) and result[1:] == [(2, 4), (3, 9)] and result["y"] == [1, 4, 9]
    assert result.dicts()[0] == {"x": 1, "y": 1}
    assert db.run("?[x] := x = $x", {"x": 5}).value() == 5
    assert db.query("?[x, y] := x = $x, y = $y", {"x": 1}, y=2).one() == (1, 2)
    for wrong, code in ((result.one, "not_one_row"), (db.run("?[x, y] := x = 1, y = 2").value, "not_one_value")):
        with pytest.raises(cozo.Error) as raised:
            wrong()
        assert raised.value.code == f"python::{code}"
    with pytest.raises(cozo.Error, match="no column 'z'"):
        result["z"]
    with pytest.raises(cozo.Error):
        db.query("?[x] := x = 1 :create r {x}")


def test_rows_are_the_values_of_the_script(db):
    ident = str(uuid.uuid4())
    for value in (None, True, 1, 2.5, "a", b"\x00", [1, [2.5, None]], {"a": [1]}, [1, b"x"]):
        expected = json.loads(json.dumps(value)) if isinstance(value, dict) else value
        assert db.run("?[x] := x = $x", x=value).value() == expected
    assert db.run("?[x] := x = to_uuid($x)", x=ident).value() == ident
    mixed = db.run("?[i, x] := x = get($xs, i), i in [0, 1, 2, 3]", xs=[1, 2.5, "a", b"b"])
    assert mixed["x"] == [1, 2.5, "a", b"b"] and type(mixed["x"][0]) is int
    assert type(db.run("?[x] := x in [1, 2.5]")["x"][0]) is int
    assert db.run("?[x] := x = validity(5)").value() == [5, True]


def test_results_as_tables_of_others(db):
    result = db.run("?[i, s, j] := i in [1, 2], s = if(i == 1, 'a', null), j = [i]")
    frame = result.df()
    assert frame["i"].dtype == "int64" and frame["j"].tolist() == [[1], [2]] and frame["s"].isna().tolist() == [False, True]
    assert result.pl()["i"].to_list() == [1, 2] and result.arrow().column("s").to_pylist() == ["a", None]
    assert polars.DataFrame(result).shape == (2, 3)
    large = 2**53 + 1
    frame = db.run("?[i, x] := i in [0, 1], x = if(i == 0, null, $x)", x=large).df()
    assert frame["x"].dtype == "Int64" and frame["x"][1] == large


def test_a_relation_without_rows_has_types(db):
    db.run(":create t {i: Int => f: Float?, s: String, b: Bool, j: Json}")
    assert [str(field.type) for field in db["t"].arrow().schema][:4] == ["int64", "double", "string", "bool"]
    assert db["t"].pl().dtypes[:4] == [polars.Int64, polars.Float64, polars.String, polars.Boolean]
    frame = db["t"].df()
    assert list(frame.columns) == ["i", "f", "s", "b", "j"] and frame["i"].dtype == "int64" and frame["f"].dtype == "float64"
    assert db["t"].rows == [] and not db["t"]


def test_results_show_themselves(db):
    result = db.run("?[n, s] := n in int_range(25), s = '<b>&'")
    lines = repr(result).splitlines()
    assert lines[0].split() == ["n", "s"] and lines[-1] == "(25 rows, the first 10 shown)" and len(lines) == 13
    page = result._repr_html_()
    assert "&lt;b&gt;&amp;" in page and "<b>" not in page and page.count("<tr>") == 21
    assert repr(db.run("?[x] := x = 1, x > 1")).endswith("(0 rows)")


FRAMES = {
    "dicts": lambda: [{"k": 1, "f": 0.5, "s": "a"}, {"k": 2, "f": None, "s": "b"}],
    "columns": lambda: {"k": [1, 2], "f": [0.5, None], "s": ["a", "b"]},
    "arrays": lambda: {"k": numpy.array([1, 2]), "f": [0.5, None], "s": numpy.array(["a", "b"])},
    "pandas": lambda: pandas.DataFrame({"k": [1, 2], "f": [0.5, None], "s": ["a", "b"]}),
    "index": lambda: pandas.DataFrame({"f": [0.5, None], "s": ["a", "b"]}, index=pandas.Index([1, 2], name="k")),
    "polars": lambda: polars.DataFrame({"k": [1, 2], "f": [0.5, None], "s": ["a", "b"]}),
    "lazy": lambda: polars.LazyFrame({"k": [1, 2], "f": [0.5, None], "s": ["a", "b"]}),
    "pyarrow": lambda: pyarrow.table({"k": [1, 2], "f": [0.5, None], "s": ["a", "b"]}),
    "batch": lambda: pyarrow.record_batch({"k": [1, 2], "f": [0.5, None], "s": ["a", "b"]}),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_data_of_all_kinds(db, kind):
    data = FRAMES[kind]()
    db.create("t", data, key=["k"])
    assert types(db, "t") == {"k": "Int", "f": "Float?", "s": "String"}
    assert [column.is_key for column in db.columns("t")] == [True, False, False]
    assert db["t"].rows == [(1, 0.5, "a"), (2, None, "b")]
    db.remove("t", data)
    assert db["t"].rows == []
    db.insert("t", data)
    with pytest.raises(cozo.Error):
        db.insert("t", data)
    db.run("?[k, f, s] <- [[1, 9.5, 'z']] :put t {k => f, s}")
    db.put("t", data)
    assert db["t"].rows == [(1, 0.5, "a"), (2, None, "b")]
    db.update("t", {"k": 2, "s": "c"})
    assert db["t"].rows == [(1, 0.5, "a"), (2, None, "c")]
    assert db.relations() == ["t"] and "t" in db
    db.drop("t")
    assert db.relations() == []


def test_duckdb_and_results_go_in(db):
    duckdb = pytest.importorskip("duckdb")
    db.create("t", duckdb.sql("select 1 as k, 'a' as s"), key="k")
    db.create("u", db["t"], key="k")
    assert db["u"].rows == [(1, "a")] and types(db, "u") == {"k": "Int", "s": "String"}


def test_rows_without_names(db):
    db.create("t", PEOPLE, key="name")
    db.put("t", [("Cid", 45), ["Dot", 19]])
    assert db["t"]["name"] == ["Ann", "Bea", "Cid", "Dot"]
    db.remove("t", [("Cid",)])
    assert len(db["t"]) == 3
    db.put("t", [])


def test_types_of_columns(db):
    data = {
        "b": [True, None], "i": [1, 2], "f": [1, 2.5], "s": ["a", "b"], "y": [b"a", b"b"], "u": [uuid.uuid4(), uuid.uuid4()],
        "t": [NOON, dt.date(2024, 1, 1)], "j": [{"a": 1}, {}], "l": [[1], [2, 3]], "n": [None, None], "m": [1, "a"],
    }  # fmt: skip
    db.create("t", data, key="i")
    expected = {
        "b": "Bool?", "i": "Int", "f": "Float", "s": "String", "y": "Bytes", "u": "Uuid", "t": "Float", "j": "Json", "l": "[Int]",
        "n": "Any?", "m": "Any?",
    }  # fmt: skip
    assert types(db, "t") == expected
    db.create("v", {"id": [1, 2], "v": numpy.zeros((2, 3), dtype="float32")}, key="id")
    assert types(db, "v")["v"] == "<F32;3>"
    db.create("w", {"id": [1], "v": [[1, 2]]}, key="id", types={"v": "<F64; 2>"})
    assert types(db, "w")["v"] == "<F64;2>"
    db.create("all", PEOPLE)
    assert all(column.is_key for column in db.columns("all"))


def test_mixed_columns_of_pandas(db):
    db.create("t", pandas.DataFrame({"k": [1, 2, 3], "v": [1, "a", None]}), key="k")
    assert db["t"]["v"] == [1, "a", None]


def test_wrong_data_says_what_to_do(db):
    db.create("t", PEOPLE, key="name")
    for wrong in (
        lambda: db.put("t", {"name": "x", "size": 1}),
        lambda: db.put("t", pandas.DataFrame({"name": ["x"], "size": [1]})),
        lambda: db.put("t", "text"),
        lambda: db.put("t", [1, 2]),
        lambda: db.put("t", [("x", 1, 2)]),
        lambda: db.put("t", {"name": ["x"], "age": [1, 2]}),
        lambda: db.put("nobody", PEOPLE),
        lambda: db.put("t {x}", PEOPLE),
        lambda: db.create("u", {"a b": [1]}),
        lambda: db.create("u", PEOPLE, key="size"),
        lambda: db.create("u", []),
    ):
        with pytest.raises(cozo.Error) as raised:
            wrong()
        assert raised.value.help and raised.value.code
    assert db["t"].dicts() == PEOPLE
    with pytest.raises(cozo.Error):
        db.create("u", pandas.DataFrame({"a": [1, 2]}), types={"a": "String"})
    assert db.relations() == ["t"], "what cannot be filled is not made"


def test_triggers_see_frames(db):
    db.create("t", PEOPLE, key="name")
    db.run(":create log {name}")
    db.run("::set_triggers t on put { ?[name] := _new[name, _] :put log {name} }")
    db.put("t", pandas.DataFrame({"name": ["Cid"], "age": [45]}))
    assert db["log"].rows == [("Cid",)]


MOMENTS = [
    NOON,
    NOON.replace(tzinfo=None),
    NOON.astimezone(dt.timezone(dt.timedelta(hours=5))),
    pandas.Timestamp(NOON),
    numpy.datetime64("2024-05-01T12:00"),
]


@pytest.mark.parametrize("moment", MOMENTS, ids=repr)
def test_times_are_seconds(db, moment):
    assert db.run("?[x] := x = $x", x=moment).value() == NOON.timestamp()
    assert db.run("?[x] := x = get($x, 1)", x=[1, moment]).value() == NOON.timestamp()


def test_other_parameters(db):
    assert db.run("?[x] := x = $x", x=dt.date(1970, 1, 2)).value() == 86400.0
    assert db.run("?[x] := x = $x", x=dt.timedelta(hours=1)).value() == 3600.0
    assert db.run("?[x] := x = $x", x=pandas.NaT).value() is None
    assert db.run("?[x] := x = $x", x=pandas.Series([NOON])).value() == [NOON.timestamp()]
    assert db.run("?[a, b] <- $rows", rows=pandas.DataFrame({"a": [1], "b": [NOON]})).rows == [(1, NOON.timestamp())]
    with pytest.raises(cozo.Error) as raised:
        db.run("?[x] := x = $x", x={1, 2})
    assert raised.value.code == "python::unconvertible"


TIMES = {
    "dicts": lambda: [{"k": 1, "at": NOON}, {"k": 2, "at": None}],
    "pandas": lambda: pandas.DataFrame({"k": [1, 2], "at": pandas.to_datetime([NOON, None], utc=True)}),
    "pandas in a zone": lambda: pandas.DataFrame({"k": [1, 2], "at": pandas.to_datetime([NOON, None], utc=True).tz_convert("Asia/Tokyo")}),
    "pandas without": lambda: pandas.DataFrame({"k": [1, 2], "at": pandas.to_datetime(["2024-05-01 12:00", None])}),
    "polars": lambda: polars.DataFrame({"k": [1, 2], "at": [NOON, None]}),
    "pyarrow": lambda: pyarrow.table({"k": [1, 2], "at": pyarrow.array([NOON, None], pyarrow.timestamp("ns", "Asia/Tokyo"))}),
}


@pytest.mark.parametrize("kind", TIMES)
def test_columns_of_times(db, kind):
    db.create("t", TIMES[kind](), key="k")
    assert types(db, "t")["at"] == "Float?"
    assert db["t"]["at"] == [NOON.timestamp(), None]
    frame = db["t"].df(times=["at"])
    assert str(frame["at"].dtype) == "datetime64[us, UTC]" and frame["at"][0] == NOON and frame["at"].isna()[1]
    assert db["t"].pl(times="at")["at"].to_list() == [NOON, None]
    table = db["t"].arrow(times="at")
    assert table.schema.field("at").type == pyarrow.timestamp("us", "UTC")
    assert table["at"].to_pylist() == [NOON, None] and table["k"].to_pylist() == [1, 2]


@pytest.mark.parametrize("kind", TIMES)
def test_a_validity_takes_times(db, kind):
    db.run(":create h {k: Int, at: Validity}")
    data = TIMES[kind]()
    db.put("h", data.drop(columns="at").assign(at=NOON)[:1] if hasattr(data, "assign") else data[:1])
    assert db["h"]["at"] == [[int(NOON.timestamp() * 1e6), True]]
    assert db["h"].df(times=["at"])["at"][0] == NOON


def test_transactions(db):
    db.create("t", PEOPLE, key="name")
    with db.transaction() as tx:
        age = tx.run("?[age] := *t{name: $name, age}", name="Ann").value()
        tx.put("t", {"name": "Ann", "age": age + 1})
        tx.insert("t", pandas.DataFrame({"name": ["Cid"], "age": [45]}))
        assert len(db["t"]) == 2 and len(tx.run("?[name] := *t{name}")) == 3
    assert db["t"].rows == [("Ann", 32), ("Bea", 28), ("Cid", 45)]
    with pytest.raises(ZeroDivisionError):
        with db.transaction() as tx:
            tx.remove("t", [("Ann",)])
            1 / 0
    assert len(db["t"]) == 3
    first, second = db.transaction(), db.transaction()
    for tx in (first, second):
        tx.run("?[name, age] := *t{name, age}, name = 'Ann' :put t {name => age}")
    first.commit()
    with pytest.raises(cozo.Error) as raised:
        second.commit()
    assert raised.value.code == "transact::conflict"


def test_rules(db):
    db.create("t", PEOPLE, key="name")

    @db.rule("Oldest", columns=2)
    def oldest(people, n=1):
        return sorted(people, key=lambda row: -row[1])[:n]

    @db.rule("Noon", columns=1)
    def noon():
        yield NOON

    @db.rule("Frame", columns=2)
    def frame(people):
        return pandas.DataFrame(people, columns=["a", "b"])

    assert db.run("?[name, age] <~ Oldest(*t[], n: 2)").rows == [("Ann", 31), ("Bea", 28)]
    assert db.run("?[name, age] <~ Oldest(*t[])").rows == [("Ann", 31)]
    assert db.run("?[at] <~ Noon()").value() == NOON.timestamp()
    assert len(db.run("?[a, b] <~ Frame(*t[])")) == 2
    assert oldest([["x", 1]]) == [["x", 1]]


def test_changes(db):
    db.create("t", PEOPLE, key="name")
    changes = queue.Queue()
    with db.on_change("t", changes.put) as subscription:
        db.put("t", [("Ann", 32)])
        assert changes.get(timeout=60) == ("t", "put", [["Ann", 32]], [["Ann", 31]])
        db.remove("t", [("Ann",)])
        assert changes.get(timeout=60).kind == "remove"
    assert subscription.stop() is False


def test_backups(db, tmp_path):
    db.create("t", PEOPLE, key="name")
    db.backup(tmp_path / "backup")
    with cozo.connect() as copy:
        copy.restore(tmp_path / "backup")
        assert copy["t"].dicts() == PEOPLE
        copy.remove("t", [("Ann",)])
        copy.restore(tmp_path / "backup", relations=["t"])
        assert copy["t"].dicts() == PEOPLE


def test_explain(db):
    db.create("t", PEOPLE, key="name")
    assert "t" in repr(db.explain("?[age] := *t{name: $name, age}  # a comment", name="Ann"))


def test_async(db):
    async def both():
        return await asyncio.gather(db.run_async("?[x] := x = $x", x=1), db.query_async("?[x] := x = $x", {"x": 2}))

    assert [result.value() for result in asyncio.run(both())] == [1, 2]


def test_errors(db):
    with pytest.raises(cozo.Error) as raised:
        db.run("?[x, y] :=\n  x = 'ä',\n\t*nobody[x, y]")
    error = raised.value
    assert error.code == "query::relation_not_found" and error.labels and error.args[0]["code"] == error.code
    lines = str(error).splitlines()
    assert lines[0] == f"{error.message} ({error.code})" and lines[-1] == "help: " + error.help
    assert "3 | \t*nobody[x, y]" in lines
    mark = lines[lines.index("3 | \t*nobody[x, y]") + 1]
    assert mark.startswith("  | \t") and "^" in mark
    assert "\x1b" not in str(error) and "\x1b" in error.display
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.code, copy.help) == (str(error), error.code, error.help)
    with pytest.raises(TypeError):
        db.run()


def test_native_errors_read_well():
    native = CozoDbPy("mem", "", "{}")
    with pytest.raises(Exception) as raised:
        native.run_script("?[x] := *nobody[x]", {}, True)
    described = raised.value.args[0]
    assert isinstance(described, dict) and described["code"] == "query::relation_not_found"
    assert json.loads(json.dumps(described)) == described
    text = str(raised.value)
    assert "1 | ?[x] := *nobody[x]" in text and "^" in text and described["help"] in text and "{" not in text
    assert type(pickle.loads(pickle.dumps(raised.value)).args[0]) is dict


def test_warnings_of_scripts(db):
    script = "?[x] <- [[1]] :create _kept {x}"
    assert any("nobody can see" in warning for warning in db.run(script).warnings)
    assert db.run("?[x] := x = 1").warnings == []
    native = db.native.run_script(script, {}, False)
    assert any("nobody can see" in warning for warning in native["warnings"])
    assert "warnings" not in db.native.run_script("?[x] := x = 1", {}, False)


def test_several_results(db):
    first = db.run("%return {?[x] := x = 1}, {?[y] := y = 2}")
    assert first.value() == 1 and first.next.rows == [(2,)] and first.next.next is None


def test_without_other_packages():
    code = """
import sys
for name in ("numpy", "pandas", "polars", "pyarrow"):
    sys.modules[name] = None
import cozo, datetime
db = cozo.connect()
db.create("t", [{"k": 1, "at": datetime.datetime(1970, 1, 2)}], key="k")
assert db["t"].rows == [(1, 86400.0)], db["t"].rows
repr(db["t"])
try:
    db["t"].df()
except ImportError as error:
    assert "pip install pandas" in str(error)
else:
    raise AssertionError("there is no pandas")
"""
    assert subprocess.run([sys.executable, "-c", code], env=dict(os.environ), timeout=120).returncode == 0


def examples():
    """The examples of all docstrings, each with the database that they speak of."""
    for name in ("", "._database", "._errors", "._events", "._result", "._transaction", "._writes"):
        module = importlib.import_module("cozo" + name)
        yield from (test for test in doctest.DocTestFinder().find(module, "cozo" + name) if test.examples)


@pytest.mark.parametrize("example", list(examples()), ids=lambda example: example.name)
def test_examples_of_docstrings(example, db, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if not any("db.create(" in step.source for step in example.examples):
        db.create("person", PEOPLE, key="name")
    example.globs = {"asyncio": asyncio, "cozo": cozo, "db": db, "pandas": pandas}
    report = []
    doctest.DocTestRunner().run(example, out=report.append)
    assert not report, "".join(report)


def test_tables_give_no_warnings(db):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = db.run("?[j] := j = [1]")
        assert result.df().shape == result.pl().shape == (1, 1)


def test_plans_are_data():
    with cozo.connect() as db:
        db.run(":create edge {a: Int, b: Int}")
        plan = db.plan("?[b] := *edge[$x, b]", x=1, sizes={"edge": {"rows": 1e9}})
        assert (plan["format"], plan["version"], plan["headers"]) == ("cozo-plan", 1, ["b"])
        (rule,) = plan["components"][0]["rules"]
        assert rule["operators"][0]["on"][0]["value"]["constant"]["value"] == 1
        with pytest.raises(cozo.Error) as refused:
            db.plan("::relations")
        assert refused.value.code == "plan::not_one_query"
