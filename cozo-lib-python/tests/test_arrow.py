"""Results and imports as Arrow tables."""

import _thread
import gc
import math
import subprocess
import sys
import threading
import uuid
from decimal import Decimal

import pytest
from cozo_embedded import ArrowResult

pa = pytest.importorskip("pyarrow")

ID = "123e4567-e89b-12d3-a456-426614174000"


@pytest.fixture
def arrow(db):
    return lambda script, params=None: db.run_script_arrow(script, params or {}, True)


def column(result):
    [only] = pa.table(result).columns
    return only.combine_chunks()


def storage(array):
    """The array without its extension type."""
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def is_json(result):
    [field] = pa.table(result).schema
    return is_json_field(field)


def is_json_field(field):
    if isinstance(field.type, pa.BaseExtensionType):
        return field.type.extension_name == "arrow.json"
    return (field.metadata or {}).get(b"ARROW:extension:name") == b"arrow.json"


RULES = [
    ("[[1], [null], [-9223372036854775807]]", pa.int64(), [None, 1 - 2**63, 1]),
    ("[[1.5], [null], [0.0]]", pa.float64(), [None, 0.0, 1.5]),
    ("[[true], [null], [false]]", pa.bool_(), [None, False, True]),
    ("[['b'], [null], [''], ['ü']]", pa.utf8(), [None, "", "b", "ü"]),
    ("[[null]]", pa.null(), [None]),
    # Integers among floats, as long as none loses digits.
    ("[[1], [1.5], [null]]", pa.float64(), [None, 1.0, 1.5]),
    ("[[decode_base64('AP8=')], [null]]", pa.binary(), [None, b"\x00\xff"]),
    (f"[[to_uuid('{ID}')], [null]]", pa.utf8(), [None, ID]),
    ("[[vec([1, 2])], [null], [vec([0.5, 3])]]", pa.list_(pa.float32(), 2), [None, [0.5, 3.0], [1.0, 2.0]]),
    ("[[vec([1, 0.1], 'F64')]]", pa.list_(pa.float64(), 2), [[1.0, 0.1]]),
]


@pytest.mark.parametrize("rows, kind, expected", RULES)
def test_types_follow_what_a_column_holds(arrow, rows, kind, expected):
    result = arrow(f"?[x] <- {rows}")
    assert column(result).type == kind
    assert column(result).to_pylist() == expected
    assert column(result).null_count == expected.count(None)
    assert not is_json(result)
    column(result).validate(full=True)


JSON_RULES = [
    ("[[[1, 'a']], [null]]", [None, '[1,"a"]']),
    ("[[1], ['a'], [true]]", ["true", "1", '"a"']),
    ("[[9007199254740993], [0.5]]", ["0.5", "9007199254740993"]),
    ("[[{'a': [1]}]]", ['{"a":[1]}']),
    ("[[vec([1])], [vec([1, 2])]]", ["[1.0]", "[1.0,2.0]"]),
    ("[[vec([1])], [vec([1], 'F64')]]", ["[1.0]", "[1.0]"]),
    ("[[validity(5, false)]]", ["[5,false]"]),
]


@pytest.mark.parametrize("rows, expected", JSON_RULES)
def test_what_has_no_type_is_json(arrow, rows, expected):
    result = arrow(f"?[x] <- {rows}")
    assert storage(column(result)).type == pa.utf8()
    assert storage(column(result)).to_pylist() == expected
    assert is_json(result)


def test_a_result_says_what_it_is(arrow):
    result = arrow("?[n, s] <- [[1, 'a'], [2, 'b'], [3, 'c']]")
    assert isinstance(result, ArrowResult)
    assert (result.num_rows, len(result), result.column_names, result.next) == (3, 3, ["n", "s"], None)
    assert "3 rows" in repr(result) and "n: Int64" in repr(result)
    assert pa.schema(result) == pa.table(result).schema == pa.schema([("n", pa.int64()), ("s", pa.utf8())])


def test_a_result_is_read_more_than_once_and_outlives_the_database(db, arrow):
    result = arrow("?[n] := n in int_range(100000)")
    db.close()
    first, second = pa.table(result), pa.table(result)
    del result
    gc.collect()
    assert first["n"].to_pylist() == second["n"].to_pylist() == list(range(100000))


def test_empty_results(arrow):
    result = pa.table(arrow("?[a, b] <- [[1, 2]] :limit 0"))
    assert result.num_rows == 0 and result.column_names == ["a", "b"]
    status = arrow("::relations")
    assert status.num_rows == 0 and "name" in status.column_names


def test_operations_answer_too(db):
    status = db.run_script_arrow("?[k] <- [[1], [2]] :create r {k}", {}, False)
    assert pa.table(status).to_pydict() == {"status": ["OK"]}
    both = db.run_script_arrow("%return {?[a] := *r[a]}, {?[b] := b = 'x'}", {}, True)
    assert pa.table(both).to_pydict() == {"a": [1, 2]}
    assert pa.table(both.next).to_pydict() == {"b": ["x"]}
    assert both.next.next is None


def test_errors_are_those_of_run_script(db):
    with pytest.raises(Exception) as raised:
        db.run_script_arrow("?[x] := *nope[x]", {}, True)
    assert raised.value.args[0]["code"] == "query::relation_not_found"
    with pytest.raises(Exception) as raised:
        db.run_script_arrow("?[x] <- [[1]] :create r {x}", {}, True)
    assert raised.value.args[0]["ok"] is False
    with pytest.raises(TypeError):
        db.run_script_arrow("?[x] := x = 1", {1: 2}, True)
    db.close()
    with pytest.raises(Exception, match="database closed"):
        db.run_script_arrow("?[x] := x = 1", {}, True)
    with pytest.raises(Exception, match="database closed"):
        db.import_arrow("r", pa.table({"k": [1]}))


def test_control_c_stops_a_script(db):
    threading.Timer(0.3, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        db.run_script_arrow("n[x] := x = 0  n[x] := n[y], x = y + 1  ?[x] := n[x], x < 0", {}, True)
    assert db.run_script_arrow("?[x] := x = 1", {}, True).num_rows == 1


@pytest.mark.parametrize("kind", ["float32", "float64"])
def test_vectors_are_arrays_of_numpy_without_copies(db, arrow, kind):
    numpy = pytest.importorskip("numpy")
    vectors = numpy.arange(12, dtype=kind).reshape(4, 3)
    db.run_script(f":create p {{k: Int => v: <F{kind[-2:]}; 3>?}}", {}, False)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 3)
    db.import_arrow("p", pa.table({"k": [0, 1, 2, 3], "v": lists}))
    found = column(arrow("?[v] := *p{v}"))
    assert found.type == pa.list_(pa.from_numpy_dtype(kind), 3)
    array = found.flatten().to_numpy(zero_copy_only=True)
    assert array.dtype == kind and (array.reshape(-1, 3) == vectors).all()
    db.import_arrow("p", pa.table({"k": [4], "v": pa.array([None], lists.type)}))
    assert column(arrow("?[v] := *p{v}")).to_pylist() == [None, *vectors.tolist()]


def test_pandas_reads_results(arrow):
    pandas = pytest.importorskip("pandas", "2.2")
    result = arrow("?[n, f, s, b] <- [[1, 1.5, 'a', true], [2, null, 'b', false]]")
    frame = pa.table(result).to_pandas()
    assert list(frame["n"]) == [1, 2] and frame["n"].dtype == "int64"
    assert frame["f"][0] == 1.5 and math.isnan(frame["f"][1])
    assert list(frame["s"]) == ["a", "b"] and list(frame["b"]) == [True, False]
    if hasattr(pandas.DataFrame, "from_arrow"):
        assert pandas.DataFrame.from_arrow(result).equals(frame)


def test_polars_reads_results(arrow):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(arrow("?[n, f, s, v] <- [[1, 1.5, 'a', vec([1, 2])], [2, null, 'b', vec([3, 4])]]"))
    assert frame.schema == {"n": polars.Int64, "f": polars.Float64, "s": polars.String, "v": polars.Array(polars.Float32, 2)}
    assert frame.rows() == [(1, 1.5, "a", [1.0, 2.0]), (2, None, "b", [3.0, 4.0])]


def test_duckdb_reads_results(arrow):
    duckdb = pytest.importorskip("duckdb")
    edges = arrow("?[fr, to, name] <- [[1, 2, 'a'], [2, 3, null], [1, 3, 'c']]")  # noqa: F841
    found = duckdb.connect().execute("select fr, count(*), count(name) from edges group by fr order by fr").fetchall()
    assert found == [(1, 2, 2), (2, 1, 0)]


@pytest.mark.filterwarnings("ignore")
def test_json_columns_are_text_to_others(arrow):
    result = arrow("?[x] <- [[[1, 'a']]]")
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(result).rows() == [('[1,"a"]',)]
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.connect().execute("select x from result").fetchall() == [('[1,"a"]',)]


@pytest.fixture
def relation(db):
    """A relation with a column of each type."""
    columns = "k: Int => f: Float?, b: Bool?, s: String?, y: Bytes?, u: Uuid?, v: <F32; 2>?, l: [Int]?, j: Json?"
    db.run_script(f":create r {{{columns}}}", {}, False)
    db.run_script(
        "?[k, f, b, s, y, u, v, l, j] <- [[1, 1.5, true, 'a', decode_base64('AP8='), $u, [1, 0.5], [1, 2], {'a': [1]}], "
        "[2, null, null, null, null, null, null, null, null]] :put r {k => f, b, s, y, u, v, l, j}",
        {"u": ID},
        False,
    )
    return "?[k, f, b, s, y, u, v, l, j] := *r[k, f, b, s, y, u, v, l, j]"


def through_pyarrow(result):
    return pa.table(result)


def through_polars(result):
    return pytest.importorskip("polars").DataFrame(result)


def through_duckdb(result):
    duckdb = pytest.importorskip("duckdb")
    return duckdb.connect().from_arrow(pa.table(result))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("through", [lambda result: result, through_pyarrow, through_polars, through_duckdb])
def test_round_trips(db, relation, through):
    before = db.run_script(relation, {}, True)
    result = db.run_script_arrow(relation, {}, True)
    frame = through(result)
    db.run_script("?[k] := *r{k} :rm r {k}", {}, False)
    keeps_json = is_json_field(pa.RecordBatchReader.from_stream(frame).schema.field("j"))
    assert keeps_json or through in (through_polars, through_duckdb)
    if not keeps_json:
        # To those that drop the mark of a column it is text; text does not become a list.
        with pytest.raises(Exception, match="does not fit"):
            db.import_arrow("r", frame)
        scripts = ["?[k, f, b, s, y, u, v] := *r{k, f, b, s, y, u, v}", "::remove r"]
        db.import_arrow("r", result)
        before, _ = [db.run_script(script, {}, False) for script in scripts]
        db.run_script(":create r {k: Int => f: Float?, b: Bool?, s: String?, y: Bytes?, u: Uuid?, v: <F32; 2>?}", {}, False)
        relation = scripts[0]
    db.import_arrow("r", frame)
    assert db.run_script(relation, {}, True) == before


def test_round_trips_of_pandas(db):
    pandas = pytest.importorskip("pandas", "2.2")
    frame = pandas.DataFrame({"k": [1, 2, 3], "f": [0.5, 1.5, 2.5], "s": ["a", None, "c"], "c": pandas.Categorical(["x", "y", "x"])})
    db.run_script(":create r {k: Int => f: Float, s: String?, c: String}", {}, False)
    db.import_arrow("r", frame)
    rows = [[1, 0.5, "a", "x"], [2, 1.5, None, "y"], [3, 2.5, "c", "x"]]
    assert db.run_script("?[k, f, s, c] := *r[k, f, s, c]", {}, True)["rows"] == rows
    back = pa.table(db.run_script_arrow("?[k, f, s, c] := *r[k, f, s, c]", {}, True)).to_pandas()
    assert back["k"].tolist() == [1, 2, 3] and back["f"].equals(frame["f"])


def test_duckdb_relations_go_in(db):
    duckdb = pytest.importorskip("duckdb")
    db.run_script(":create r {k: Int => half: Float, name: String}", {}, False)
    db.import_arrow("r", duckdb.connect().sql("select range as k, range / 2 as half, 'n' || range as name from range(300000)"))
    found = db.run_script("?[count(k), sum(half), max(k)] := *r[k, half, name], name = 'n' ++ to_string(k)", {}, True)
    assert found["rows"] == [[300000, sum(range(300000)) / 2, 299999]]


IMPORTS = [
    (pa.array([1, None, -3], pa.int8()), [1, None, -3]),
    (pa.array([1, 2], pa.uint32()), [1, 2]),
    (pa.array([1, None, 2**63], pa.uint64()), [1, None, float(2**63)]),
    (pa.array([1.5, None], pa.float16()), [1.5, None]),
    (pa.array([0.5, None], pa.float32()), [0.5, None]),
    (pa.array([True, None, False]), [True, None, False]),
    (pa.array(["a", None, "ü"], pa.large_utf8()), ["a", None, "ü"]),
    (pa.array(["a", None, "longer than twelve bytes"], pa.string_view()), ["a", None, "longer than twelve bytes"]),
    (pa.array([b"\x00", None]), [b"\x00", None]),
    (pa.array([b"\x00", None], pa.large_binary()), [b"\x00", None]),
    (pa.array([b"ab", None], pa.binary(2)), [b"ab", None]),
    (pa.array(["a", None, "b", "a"]).dictionary_encode(), ["a", None, "b", "a"]),
    (pa.array([1000, None, 1000]).dictionary_encode(), [1000, None, 1000]),
    (pa.array([[1, None], None, []], pa.list_(pa.int32())), [[1, None], None, []]),
    (pa.array([["a"], [["b"][0]]], pa.large_list(pa.utf8())), [["a"], ["b"]]),
    (pa.array([[1, 2], None], pa.list_(pa.int16(), 2)), [[1, 2], None]),
    (pa.array([[1, 2], None], pa.list_(pa.float32(), 2)), [[1.0, 2.0], None]),
    (pa.array([[1, None]], pa.list_(pa.float64(), 2)), [[1.0, None]]),
    (pa.array([{"a": 1, "b": [None]}, None]), [{"a": 1, "b": [None]}, None]),
    (pa.array([Decimal("1.25"), None]), [1.25, None]),
    (pa.array([Decimal("12345678901234567168")], pa.decimal128(38, 0)), [12345678901234567168.0]),
    (pa.array([Decimal("-7")], pa.decimal256(50, 0)), [-7]),
    (pa.nulls(2), [None, None]),
]


@pytest.mark.parametrize("array, expected", IMPORTS, ids=lambda value: str(getattr(value, "type", "")))
def test_types_that_go_in(db, array, expected):
    db.run_script(":create r {k: Int => v: Any?}", {}, False)
    # With rows before and after, which are cut off again: an array need not begin at its memory's begin.
    padded = pa.concat_arrays([array.slice(0, 1), array, array.slice(0, 1)]).slice(1, len(array))
    table = pa.table({"k": range(len(array)), "v": padded})
    db.import_arrow("r", table)
    found = [value for _, value in db.run_script("?[k, v] := *r[k, v]", {}, True)["rows"]]
    assert found == expected and [type(value) for value in found] == [type(value) for value in expected]


def test_uuids_and_json_go_in_as_what_they_are(db):
    db.run_script(":create r {k: Int => u, j}", {}, False)
    fields = [
        pa.field("k", pa.int64()),
        pa.field("u", pa.binary(16), metadata={"ARROW:extension:name": "arrow.uuid"}),
        pa.field("j", pa.utf8(), metadata={"ARROW:extension:name": "arrow.json"}),
    ]
    data = [[1], [uuid.UUID(ID).bytes], ['[1, {"a": null}]']]
    db.import_arrow("r", pa.Table.from_arrays([pa.array(d, f.type) for d, f in zip(data, fields)], schema=pa.schema(fields)))
    rows = db.run_script("?[u, v, j, k] := *r[_, u, j], v = is_uuid(u), k = is_list(j)", {}, True)["rows"]
    assert rows == [[ID, True, [1, {"a": None}], True]]


def test_chunks_and_other_columns(db):
    db.run_script(":create r {k: Int => s: String}", {}, False)
    chunks = [pa.record_batch({"more": [0.5], "s": [f"s{n}"], "k": [n]}) for n in range(100)]
    db.import_arrow("r", pa.RecordBatchReader.from_batches(chunks[0].schema, chunks))
    assert db.run_script("?[k, s] := *r[k, s]", {}, True)["rows"] == [[n, f"s{n}"] for n in range(100)]
    db.import_arrow("-r", pa.table({"k": range(1, 100)}))
    assert db.run_script("?[k, s] := *r[k, s]", {}, True)["rows"] == [[0, "s0"]]


def test_an_import_is_all_or_nothing(db):
    db.run_script(":create r {k: Int => s: String}", {}, False)
    for table in [
        pa.table({"k": [1, 2], "s": ["a", None]}),
        pa.table({"k": ["x"], "s": ["a"]}),
        pa.table({"k": [1]}),
    ]:
        with pytest.raises(Exception) as raised:
            db.import_arrow("r", table)
        assert raised.value.args[0]["code"]
    with pytest.raises(Exception, match="no stored relation 'nope'"):
        db.import_arrow("nope", pa.table({"k": [1]}))
    assert db.run_script("?[k] := *r[k, _]", {}, True)["rows"] == []


LOST = 2**64 - 1


@pytest.mark.parametrize(
    "array",
    [
        pa.array([1, LOST], pa.uint64()),
        pa.array([[1], [2, LOST]], pa.list_(pa.uint64())),
        pa.array([{"a": [1]}, {"a": [LOST]}], pa.struct([("a", pa.list_(pa.uint64()))])),
        pa.array([Decimal(1), Decimal(LOST)], pa.decimal128(38, 0)),
    ],
    ids=lambda array: str(array.type),
)
def test_integers_that_no_number_holds_are_refused(db, array):
    db.run_script(":create r {k: Int => v: Any?}", {}, False)
    with pytest.raises(Exception, match=f"column 'v': {LOST} is beyond Int.*cast the column to strings.*row 3"):
        table = pa.table({"k": [1, 2], "v": array})
        db.import_arrow("r", pa.Table.from_batches([*table.slice(0, 1).to_batches(), *table.slice(0, 1).to_batches(), *table.to_batches()]))
    assert db.run_script("?[k] := *r[k, _]", {}, True)["rows"] == []


def test_what_cannot_go_in_is_refused(db):
    db.run_script(":create r {k: Int => v: Any?}", {}, False)
    with pytest.raises(Exception, match="column 'v': no value stands for the Arrow type Timestamp.*cast it"):
        db.import_arrow("r", pa.table({"k": [1], "v": pa.array([0], pa.timestamp("us"))}))
    for data in [None, 5, [[1]], {"k": [1]}]:
        with pytest.raises(TypeError, match="__arrow_c_stream__"):
            db.import_arrow("r", data)
    with pytest.raises(Exception):
        db.import_arrow("r", pa.chunked_array([[1, 2]]))

    def failing():
        yield pa.record_batch({"k": [1], "v": [1]})
        raise ValueError("out of paper")

    schema = pa.schema([("k", pa.int64()), ("v", pa.int64())])
    with pytest.raises(Exception, match="out of paper"):
        db.import_arrow("r", pa.RecordBatchReader.from_batches(schema, failing()))

    class Odd:
        def __arrow_c_stream__(self):
            return 5

    with pytest.raises(TypeError):
        db.import_arrow("r", Odd())
    assert db.run_script("?[k] := *r[k, _]", {}, True)["rows"] == []


def test_a_stream_is_taken_once(db):
    db.run_script(":create r {k: Int}", {}, False)
    capsule = pa.table({"k": [1]}).__arrow_c_stream__()

    class Again:
        def __arrow_c_stream__(self):
            return capsule

    db.import_arrow("r", Again())
    with pytest.raises(Exception, match="released"):
        db.import_arrow("r", Again())


def test_results_make_no_object_for_a_value():
    # A million ints as objects take some 40 MB, as numbers 8.
    code = (
        "import tracemalloc; from cozo_embedded import CozoDbPy; db = CozoDbPy('mem', '', '{}')\n"
        "tracemalloc.start(); result = db.run_script_arrow('?[x] := x in int_range(1000000)', {}, True)\n"
        "import pyarrow as pa; table = pa.table(result); assert table.num_rows == 1000000\n"
        "objects = sum(trace.size for trace in tracemalloc.take_snapshot().traces if trace.traceback[0].filename == '<string>')\n"
        "assert objects < 100000, objects"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0
