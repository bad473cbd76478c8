"""Errors of every kind: the dict that they carry, and how pycozo shows them."""

import datetime
import json
import threading
import uuid

import pytest
from cozo_embedded import CozoDbPy, eval_expressions, variables

client = pytest.importorskip("pycozo.client")
numpy = pytest.importorskip("numpy")
pandas = pytest.importorskip("pandas")


class Raises:
    """Raises whatever is asked of it."""

    def __iter__(self):
        raise KeyError("no items")

    def __float__(self):
        raise RuntimeError("no number")

    def __repr__(self):
        raise RuntimeError("no text")


class Changes:
    """Changes the dict that it is in while that is read."""

    def __init__(self, dict):
        self.dict = dict

    def __float__(self):
        self.dict.clear()
        return 1.0


def nested(levels, wrap):
    value = 1
    for _ in range(levels):
        value = wrap(value)
    return value


def endless():
    value = []
    value.append(value)
    return value


BAD_VALUES = {
    "date": (datetime.date(2020, 1, 2), "isoformat"),
    "datetime": (datetime.datetime(2020, 1, 2), "isoformat"),
    "timedelta": (datetime.timedelta(1), "total_seconds"),
    "Timestamp": (pandas.Timestamp("2020-01-02"), "isoformat"),
    "NaT": (pandas.NaT, "None"),
    "NA": (pandas.NA, "None"),
    "Series": (pandas.Series([1]), "tolist"),
    "DataFrame": (pandas.DataFrame({"a": [1]}), "import_arrow"),
    "datetime64": (numpy.datetime64("2020-01-02"), "str(value)"),
    "timedelta64": (numpy.timedelta64(1, "s"), "astype"),
    "array of times": (numpy.array(["2020-01-02"], dtype="datetime64[ns]"), "astype"),
    "array of complex": (numpy.array([1j]), "values are"),
    "set": ({1, 2}, "sorted(value)"),
    "frozenset": (frozenset([1]), "sorted(value)"),
    "UUID": (uuid.UUID(int=1), "str(value)"),
    "complex": (1j, "value.real"),
    "huge int": (10**400, "str(value)"),
    "surrogate": ("\ud800", "surrogatepass"),
    "range": (range(3), "list(value)"),
    "generator": ((x for x in [1]), "list(value)"),
    "mapping": (__import__("types").MappingProxyType({}), "dict(value)"),
    "object": (object(), "values are"),
    "raises": (Raises(), "list(value)"),
}


def check(error, code=None):
    """The dict of an error."""
    assert len(error.args) == 1
    described = error.args[0]
    assert described["ok"] is False and described["severity"] == "error"
    assert described["message"] and described["display"] and described["labels"] == [] or described["labels"]
    assert code is None or described["code"] == code
    json.dumps(described)
    return described


@pytest.mark.parametrize("name", BAD_VALUES)
def test_what_is_no_value(db, name):
    value, advice = BAD_VALUES[name]
    for wrong in (value, [[value]], {"k": value}):
        with pytest.raises(Exception) as raised:
            db.run_script("?[x] := x = $x", {"x": wrong}, True)
        assert type(raised.value) is Exception
        described = check(raised.value, "python::unconvertible")
        assert described["message"].startswith("Cannot convert ") and described["message"].endswith(" into Cozo value")
        assert len(described["message"]) < 200
        assert advice in described["help"] and "values are" in described["help"]


@pytest.mark.parametrize("name", BAD_VALUES)
def test_pycozo_shows_them(name):
    pycozo = client.Client("mem", dataframe=False)
    with pytest.raises(client.QueryException) as raised:
        pycozo.run("?[x] := x = $x", {"x": BAD_VALUES[name][0]})
    assert "Cannot convert" in str(raised.value) and "Cannot convert" in repr(raised.value)
    assert raised.value.code == "python::unconvertible"
    pycozo.close()


@pytest.mark.parametrize("params", [[1], "text", 5, {1: 2}, {None: 1}, {"x": {"y": endless()}}, {"x": endless()}])
def test_pycozo_shows_bad_parameters(params):
    pycozo = client.Client("mem", dataframe=False)
    with pytest.raises(client.QueryException) as raised:
        pycozo.run("?[x] := x = 1", params)
    assert str(raised.value) and raised.value.code in ("python::wrong_type", "python::too_deep")
    for script in (None, 1, b"?[x] := x = 1"):
        with pytest.raises(client.QueryException) as raised:
            pycozo.run(script)
        assert "the script must be a str" in str(raised.value)
    pycozo.close()
    with pytest.raises(client.QueryException) as raised:
        pycozo.run("?[x] := x = 1")
    assert (str(raised.value), raised.value.code) == ("database closed", "db::closed")


def test_depth(db):
    deepest, code = 127, "python::too_deep"
    for wrap in (lambda value: [value], lambda value: (value,), lambda value: {"a": value}, lambda value: [{"a": value}]):
        levels = deepest // (2 if wrap(1) == [{"a": 1}] else 1)
        value = nested(levels, wrap)
        [[got]] = db.run_script("?[x] := x = $x", {"x": value}, True)["rows"]
        assert json.dumps(got) == json.dumps(value)
        for levels in (deepest + 1, 500, 20000):
            with pytest.raises(Exception) as raised:
                db.run_script("?[x] := x = $x", {"x": nested(levels, wrap)}, True)
            assert check(raised.value, code)["message"].startswith("Cannot convert lists or dicts nested more than 127 deep")
    db.run_script(":create r {k => v}", {}, False)
    for value in (endless(), nested(20000, lambda value: [value])):
        with pytest.raises(Exception) as raised:
            db.import_relations({"r": {"headers": ["k", "v"], "rows": [[1, value]]}})
        check(raised.value, code)
        with pytest.raises(Exception) as raised:
            eval_expressions("x", {}, {"x": value})
        check(raised.value, code)


def test_a_dict_that_changes_while_it_is_read(db):
    params = {}
    params.update({"x": Changes(params), "y": 2})
    assert db.run_script("?[x, y] := x = $x, y = $y", params, True)["rows"] == [[1.0, 2]]
    inner = {}
    inner.update({"x": Changes(inner), "y": 2})
    assert db.run_script("?[x] := x = $x", {"x": inner}, True)["rows"] == [[{"x": 1.0, "y": 2}]]


WRONG_TYPES = {
    "query": lambda db: db.run_script(1, {}, True),
    "surrogate": lambda db: db.run_script("\ud800", {}, True),
    "params": lambda db: db.run_script("?[x] := x = 1", None, True),
    "parameter name": lambda db: db.run_script("?[x] := x = 1", {1: 1}, True),
    "immutable": lambda db: db.run_script("?[x] := x = 1", {}, "no"),
    "arrow": lambda db: db.run_script_arrow("?[x] := x = 1", [], True),
    "table": lambda db: db.import_arrow("r", [1]),
    "relation": lambda db: db.import_arrow(1, pandas.DataFrame({"a": [1]})),
    "export": lambda db: db.export_relations("r"),
    "export of numbers": lambda db: db.export_relations([1]),
    "export of one": lambda db: db.export_relations(1),
    "import": lambda db: db.import_relations([]),
    "import name": lambda db: db.import_relations({1: {}}),
    "import data": lambda db: db.import_relations({"r": []}),
    "import headers": lambda db: db.import_relations({"r": {"headers": [1], "rows": []}}),
    "import rows": lambda db: db.import_relations({"r": {"headers": [], "rows": 1}}),
    "import row": lambda db: db.import_relations({"r": {"headers": [], "rows": [1]}}),
    "backup": lambda db: db.backup(1),
    "restore": lambda db: db.restore(None),
    "import_from_backup": lambda db: db.import_from_backup(1, []),
    "import_from_backup names": lambda db: db.import_from_backup("x", [1]),
    "callback": lambda db: db.register_callback("r", "text"),
    "callback relation": lambda db: db.register_callback(1, print),
    "callback number": lambda db: db.unregister_callback(-1),
    "callback huge number": lambda db: db.unregister_callback(2**80),
    "rule": lambda db: db.register_fixed_rule("R", 1, "text"),
    "rule name": lambda db: db.register_fixed_rule(1, 1, print),
    "rule arity": lambda db: db.register_fixed_rule("R", -1, print),
    "rule to be removed": lambda db: db.unregister_fixed_rule(1),
    "transaction": lambda db: db.multi_transact("yes"),
    "transaction script": lambda db: db.multi_transact(True).run_script(1, {}),
    "transaction params": lambda db: db.multi_transact(True).run_script("", []),
    "engine": lambda db: CozoDbPy(1, "", "{}"),
    "path": lambda db: CozoDbPy("mem", 1, "{}"),
    "options": lambda db: CozoDbPy("mem", "", {}),
    "expression": lambda db: eval_expressions(1, {}, {}),
    "expression params": lambda db: eval_expressions("1", [], {}),
    "expression bindings": lambda db: eval_expressions("1", {}, {1: 1}),
    "variables": lambda db: variables(1, {}),
}


@pytest.mark.parametrize("what", WRONG_TYPES)
def test_arguments_of_wrong_types(db, what):
    with pytest.raises(TypeError) as raised:
        WRONG_TYPES[what](db)
    described = check(raised.value, "python::wrong_type")
    assert " must be " in described["message"] and described["help"].startswith("pass ")


OTHER = {
    "unknown engine": (lambda db, path: CozoDbPy("nope", "", "{}"), "db::unknown_engine"),
    "bad options": (lambda db, path: CozoDbPy("mem", "", "["), "db::bad_options"),
    "unknown option": (lambda db, path: CozoDbPy("sqlite", str(path / "x"), '{"colour": 1}'), "db::bad_options"),
    "no path": (lambda db, path: CozoDbPy("sqlite", "", "{}"), None),
    "path with NUL": (lambda db, path: CozoDbPy("sqlite", "a\0b", "{}"), None),
    "no folder": (lambda db, path: CozoDbPy("sqlite", str(path / "no" / "x"), "{}"), None),
    "a folder": (lambda db, path: CozoDbPy("sqlite", str(path), "{}"), "storage::not_a_database"),
    "a file": (lambda db, path: CozoDbPy("rocksdb", __file__, "{}"), "storage::not_a_database"),
    "not SQLite": (lambda db, path: CozoDbPy("sqlite", __file__, "{}"), "storage::not_a_database"),
    "no relation": (lambda db, path: db.export_relations(["nope"]), "query::relation_not_found"),
    "no target": (lambda db, path: db.import_relations({"nope": {"headers": [], "rows": []}}), "query::relation_not_found"),
    "no rows": (lambda db, path: db.import_relations({"nope": {"headers": []}}), "import::bad_data"),
    "rows that raise": (lambda db, path: db.import_relations({"r": {"headers": [], "rows": Raises()}}), "python::unreadable"),
    "no backup": (lambda db, path: db.restore(str(path / "nope")), None),
    "no place": (lambda db, path: db.backup(str(path / "no" / "x")), None),
    "no Arrow column": (lambda db, path: db.import_arrow("r", pandas.DataFrame({"k": [pandas.Timestamp("2020")]})), "python::arrow"),
    "no rule": (lambda db, path: db.unregister_fixed_rule("PageRank"), None),
    "rule taken": (lambda db, path: db.register_fixed_rule("PageRank", 1, print), None),
    "bad expression": (lambda db, path: eval_expressions("1 +", {}, {}), "parser::pest"),
    "bad script": (lambda db, path: db.run_script("?[", {}, True), "parser::pest"),
}


@pytest.mark.parametrize("what", OTHER)
def test_other_errors(db, tmp_path, what):
    db.run_script(":create r {k: Int}", {}, False)
    work, code = OTHER[what]
    with pytest.raises(Exception) as raised:
        work(db, tmp_path)
    assert type(raised.value) is Exception
    assert check(raised.value, code)["code"]


def test_closed_databases_and_transactions(db):
    transaction = db.multi_transact(True)
    db.close()
    for call in (
        lambda: db.run_script("?[x] := x = 1", {}, True),
        lambda: db.run_script_arrow("?[x] := x = 1", {}, True),
        lambda: db.import_arrow("r", None),
        lambda: db.export_relations([]),
        lambda: db.import_relations({}),
        lambda: db.backup("x"),
        lambda: db.restore("x"),
        lambda: db.import_from_backup("x", []),
        lambda: db.register_callback("r", print),
        lambda: db.register_fixed_rule("R", 1, print),
        lambda: db.multi_transact(True),
    ):
        with pytest.raises(Exception) as raised:
            call()
        assert check(raised.value, "db::closed")["message"] == "database closed"
    for call in (transaction.commit, transaction.abort, lambda: transaction.run_script("?[x] := x = 1", {})):
        with pytest.raises(Exception) as raised:
            call()
        check(raised.value, "transact::ended")


@pytest.mark.parametrize("engine", ["mem", "sqlite", "rocksdb"])
def test_a_conflict_is_told_by_its_code(engine, tmp_path):
    db = CozoDbPy(engine, str(tmp_path / "db"), "{}")
    db.run_script("?[k, v] <- [[1, 0]] :create r {k => v}", {}, False)
    both = [db.multi_transact(True) for _ in range(2)]
    for transaction in both:
        transaction.run_script("?[k, v] := *r[k, w], v = w + 1 :put r {k => v}", {})
    both[0].commit()
    with pytest.raises(Exception) as raised:
        both[1].commit()
    assert type(raised.value) is Exception
    assert "conflict" in check(raised.value)["code"]
    db.close()


def test_rules_raise_what_is_readable(db):
    db.register_fixed_rule("Bad", 1, lambda inputs, options: db.run_script("?[x] := *nope[x]", {}, True)["rows"])
    db.register_fixed_rule("Set", 1, lambda inputs, options: [[{1}]])
    for rule, message in (("Bad", "there is no stored relation 'nope'"), ("Set", "Cannot convert {1} into Cozo value")):
        with pytest.raises(Exception) as raised:
            db.run_script(f"?[x] <~ {rule}()", {}, True)
        described = check(raised.value)
        assert message in json.dumps(described), described


def test_errors_of_other_threads(db):
    raised = []

    def work():
        try:
            db.run_script("?[x] := x = $x", {"x": {1}}, True)
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    check(raised[0], "python::unconvertible")


def test_arrays_of_numpy_are_lists(run):
    for value, expected in [
        (numpy.array([1, 2]), [1, 2]),
        (numpy.array([1]), [1]),
        (numpy.array(1), 1),
        (numpy.array([]), []),
        (numpy.array([[1.5, 2], [3, 4]], dtype="float32"), [[1.5, 2.0], [3.0, 4.0]]),
        (numpy.array([True, False]), [True, False]),
        (numpy.array(["a", "b"]), ["a", "b"]),
        (numpy.array([b"a"]), [b"a"]),
        (numpy.array([1, "x", None, [2]], dtype=object), [1, "x", None, [2]]),
        (numpy.array([2**63], dtype="uint64"), [float(2**63)]),
        (numpy.array([1.5], dtype="longdouble"), [1.5]),
        (numpy.longdouble(1.5), 1.5),
        (numpy.float16(1.5), 1.5),
        ({"a": numpy.arange(3)}, {"a": [0, 1, 2]}),
    ]:
        [[got]] = run("?[x] := x = $x", {"x": value})
        assert json.dumps(got, default=str) == json.dumps(expected, default=str), value


def test_arrays_of_numpy_are_rows(db, run):
    run(":create r {k: Int => v: Float}")
    db.import_relations({"r": {"headers": numpy.array(["k", "v"]), "rows": numpy.array([[1, 1.5], [2, 2.5]])}})
    assert run("?[k, v] := *r[k, v]") == [[1, 1.5], [2, 2.5]]


def test_paths_may_be_paths(tmp_path):
    db = CozoDbPy("sqlite", tmp_path / "db", "{}")
    db.backup(tmp_path / "backup")
    assert CozoDbPy("mem", "", "{}").restore(tmp_path / "backup") is None
    db.close()
