"""The methods of CozoDbPy: results, errors, threads, interruption, closing."""

import _thread
import json
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path

import pytest
from cozo_embedded import CozoDbPy, eval_expressions, variables

# Counts far enough to run for many minutes.
ENDLESS = "n[x] := x = 0 n[y] := n[x], y = x + 1, y < 1000000000 ?[count(x)] := n[x]"
# Databases of CozoDB 0.7, the same as in the tests of the crate.
SAMPLES = Path(__file__).parents[2] / "cozo-core" / "tests" / "data" / "cozo-0.7"


def test_result(db):
    result = db.run_script("?[a, b] <- [[1, 'x'], [2, null]]", {}, True)
    assert result == {"headers": ["a", "b"], "rows": [[1, "x"], [2, None]], "next": None}
    assert list(result) == ["headers", "rows", "next"]


def test_further_results(db):
    result = db.run_script("{?[a] <- [[1]]} as _a {?[b] <- [[2]]} as _b %return _a, _b", {}, False)
    assert (result["headers"], result["rows"]) == (["a"], [[1]])
    assert result["next"] == {"headers": ["b"], "rows": [[2]], "next": None}


def test_errors_of_scripts_are_dicts(db):
    with pytest.raises(Exception) as raised:
        db.run_script("?[x] := *nope[x]", {}, True)
    assert type(raised.value) is Exception and len(raised.value.args) == 1
    error = raised.value.args[0]
    assert error["ok"] is False and error["severity"] == "error"
    assert error["code"] == "query::relation_not_found"
    assert "nope" in error["message"] and "nope" in error["display"]
    assert error["labels"][0]["span"]["offset"] >= 8
    json.dumps(error)


def test_immutable_scripts_cannot_write(db):
    with pytest.raises(Exception) as raised:
        db.run_script(":create r {a}", {}, True)
    assert isinstance(raised.value.args[0], dict)


@pytest.mark.parametrize(
    "arguments", [("nope", "", "{}"), ("mem", "", "["), ("mem", "", "[]"), ("mem", "", '{"unknown": 1}')]
)
def test_constructor_errors_are_dicts(arguments):
    with pytest.raises(Exception) as raised:
        CozoDbPy(*arguments)
    assert type(raised.value) is Exception and raised.value.args[0]["code"].startswith("db::")


def test_export_and_import(db):
    db.run_script("?[a, b] <- [[1, 'x'], [2, 'y']] :create r {a => b}", {}, False)
    db.run_script(":create s {k}", {}, False)
    exported = db.export_relations(["r", "s"])
    assert exported["r"] == {"headers": ["a", "b"], "rows": [[1, "x"], [2, "y"]], "next": None}
    assert exported["s"]["rows"] == []
    assert db.import_relations({"r": {"headers": ["b", "a"], "rows": [("z", 3)]}, "-r": {"headers": ["a"], "rows": [[1]]}}) is None
    assert db.export_relations(["r"])["r"]["rows"] == [[2, "y"], [3, "z"]]
    other = CozoDbPy("mem", "", "{}")
    other.run_script(":create r {a => b}", {}, False)
    other.import_relations(db.export_relations(["r"]))
    assert other.export_relations(["r"]) == db.export_relations(["r"])


@pytest.mark.parametrize(
    "data, kind",
    [
        ({"nope": {"headers": ["a"], "rows": [[1]]}}, Exception),
        ({"r": {"headers": ["a"], "rows": [["text"]]}}, Exception),
        ({"r": {"headers": ["a", "b", "a"], "rows": [[1, 2, 3]]}}, Exception),
        ({"r": {"headers": ["a"]}}, Exception),
        ({"r": {"headers": ["x"], "rows": [[1]]}}, Exception),
        ({"r": {"headers": ["a"], "rows": [[]]}}, Exception),
        ({"r": {"headers": ["a"], "rows": [[{1}]]}}, Exception),
        ({"r": {"headers": ["a"], "rows": [1]}}, TypeError),
        ({"r": {"headers": [1], "rows": [[1]]}}, TypeError),
        ({"r": []}, TypeError),
        ({1: {"headers": ["a"], "rows": [[1]]}}, TypeError),
        ([], TypeError),
    ],
)
def test_bad_imports(db, data, kind):
    db.run_script(":create r {a: Int}", {}, False)
    with pytest.raises(kind) as raised:
        db.import_relations(data)
    assert type(raised.value) is kind and raised.value.args[0]["code"]
    assert db.export_relations(["r"])["r"]["rows"] == []


def test_bad_exports(db):
    with pytest.raises(Exception) as raised:
        db.export_relations(["nope"])
    assert "nope" in raised.value.args[0]["message"]
    with pytest.raises(TypeError):
        db.export_relations([1])


def test_close(db):
    assert db.close() is True
    assert db.close() is False
    for call in (
        lambda: db.run_script("?[x] := x = 1", {}, True),
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
        assert (raised.value.args[0]["message"], raised.value.args[0]["code"]) == ("database closed", "db::closed")
    assert db.unregister_callback(0) is False
    assert db.unregister_fixed_rule("R") is False


def test_a_bad_import_says_what_does_not_fit(db):
    db.run_script(":create r {a: Int}", {}, False)
    with pytest.raises(Exception, match='"text" of type String does not fit the type Int'):
        db.import_relations({"r": {"headers": ["a"], "rows": [[1], ["text"]]}})


def test_restoring_warns_of_what_is_left_behind():
    with pytest.warns(UserWarning) as warned:
        CozoDbPy("mem", "", "{}").restore(str(SAMPLES / "odd.db"))
    assert any("bad_default" in str(warning.message) for warning in warned)


def test_search_indices_of_old_files_are_built(recwarn):
    db = CozoDbPy("mem", "", "{}")
    db.restore(str(SAMPLES / "catalog.db"))
    assert [str(warning.message) for warning in recwarn] == []
    assert "hnsw" in [row[1] for row in db.run_script("::indices docs", {}, True)["rows"]]


@pytest.mark.parametrize("engine", ["sqlite", "rocksdb"])
def test_opening_warns_of_what_is_missing(engine, tmp_path):
    path = tmp_path / "db"
    killed = """
import os, sys
from cozo_embedded import CozoDbPy
db = CozoDbPy(sys.argv[1], sys.argv[2], '{"commit_log_mb": 1}')
db.run_script("?[a] <- [[1]] :create r {a}", {}, False)
db.run_script("?[a] <- [[2]] :put r {a}", {}, False)
os._exit(0)
"""
    subprocess.run([sys.executable, "-c", killed, engine, str(path)], check=True)
    [log] = [file for file in tmp_path.rglob("*") if "commits" in file.name]
    log.write_bytes(log.read_bytes()[:-1])
    with pytest.warns(UserWarning, match=log.name):
        db = CozoDbPy(engine, str(path), "{}")
    assert db.close() is True
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert CozoDbPy(engine, str(path), "{}").close() is True


@pytest.mark.parametrize("engine", ["mem", "sqlite", "rocksdb"])
def test_backup_restore_and_import(engine, tmp_path):
    db = CozoDbPy(engine, str(tmp_path / "one"), "{}")
    db.run_script("?[a, b] <- [[1, 'x'], [2, null]] :create r {a: Int => b}", {}, False)
    path = str(tmp_path / "backup.db")
    assert db.backup(path) is None
    with pytest.raises(Exception, match="exists already"):
        db.backup(path)
    with sqlite3.connect(path) as plain:
        assert plain.execute("select count(*) from r").fetchone() == (2,)
    other = CozoDbPy(engine, str(tmp_path / "two"), '{"cache_mb": 1, "durability": "disk"}')
    assert other.restore(path) is None
    assert other.run_script("?[a, b] := *r[a, b]", {}, True)["rows"] == [[1, "x"], [2, None]]
    other.run_script("?[a] <- [[1], [2]] :rm r {a}", {}, False)
    assert other.import_from_backup(path, ["r"]) is None
    assert other.run_script("?[count(a)] := *r[a, b]", {}, True)["rows"] == [[2]]
    with pytest.raises(Exception, match="not empty"):
        other.restore(path)
    assert other.close() is True
    if engine != "mem":
        again = CozoDbPy(engine, str(tmp_path / "two"), "{}")
        assert again.run_script("?[count(a)] := *r[a, b]", {}, True)["rows"] == [[2]]


def test_unknown_options_are_errors(tmp_path):
    with pytest.raises(Exception, match="unknown"):
        CozoDbPy("sqlite", str(tmp_path / "db"), '{"colour": "red"}')


def test_held_transactions(db):
    db.run_script(":create r {a: Int}", {}, False)
    transaction = db.multi_transact(True)
    transaction.run_script("?[a] <- [[$a]] :put r {a}", {"a": 1})
    with pytest.raises(Exception) as raised:
        transaction.run_script("?[a] <- [['x']] :put r {a}", {})
    assert raised.value.args[0]["ok"] is False
    assert transaction.run_script("?[a] := *r[a]", {})["rows"] == [[1]]
    assert db.run_script("?[a] := *r[a]", {}, True)["rows"] == []
    assert transaction.commit() is None
    assert db.run_script("?[a] := *r[a]", {}, True)["rows"] == [[1]]
    for call in (transaction.commit, transaction.abort):
        with pytest.raises(Exception) as raised:
            call()
        assert raised.value.args[0]["code"] == "transact::ended"
    transaction = db.multi_transact(True)
    transaction.run_script("?[a] <- [[2]] :put r {a}", {})
    assert transaction.abort() is None
    reader = db.multi_transact(False)
    with pytest.raises(Exception):
        reader.run_script("?[a] <- [[3]] :put r {a}", {})
    del reader
    assert db.run_script("?[a] := *r[a]", {}, True)["rows"] == [[1]]


def test_close_stops_what_runs(db):
    raised = []

    def work():
        try:
            db.run_script(ENDLESS, {}, True)
        except Exception as error:
            raised.append(error.args[0])

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    assert db.close() is True
    thread.join(20)
    assert not thread.is_alive()
    assert raised[0]["ok"] is False


def test_the_interpreter_goes_on_while_scripts_run(db):
    threads = [threading.Thread(target=lambda: pytest.raises(Exception, db.run_script, ENDLESS, {}, True)) for _ in range(3)]
    for thread in threads:
        thread.start()
    started, steps = time.monotonic(), 0
    while time.monotonic() - started < 0.5:
        steps += 1
    # With the lock held there would be none.
    assert steps > 1000
    assert len(db.run_script("::running", {}, True)["rows"]) >= 3
    db.close()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


def test_threads_share_a_database(db):
    db.run_script(":create r {t, i}", {}, False)

    def work(number):
        for i in range(20):
            db.run_script("?[t, i] <- [[$t, $i]] :put r {t, i}", {"t": number, "i": i}, False)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert db.run_script("?[count(i)] := *r[t, i]", {}, True)["rows"] == [[100]]


def test_control_c_stops_a_script(db):
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        db.run_script(ENDLESS, {}, True)
    assert time.monotonic() - started < 20
    assert db.run_script("?[x] := x = 1", {}, True)["rows"] == [[1]]


def test_control_c_stops_no_script_of_another_thread(db):
    other = threading.Thread(target=lambda: pytest.raises(Exception, db.run_script, ENDLESS, {}, True))
    other.start()
    threading.Timer(0.3, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        db.run_script(ENDLESS, {}, True)
    assert len(db.run_script("::running", {}, True)["rows"]) == 2
    db.close()
    other.join(20)
    assert not other.is_alive()


def test_control_c_stops_a_query_of_a_held_transaction(db):
    db.run_script(":create r {a}", {}, False)
    transaction = db.multi_transact(True)
    transaction.run_script("?[a] <- [[1]] :put r {a}", {})
    threading.Timer(0.3, _thread.interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        transaction.run_script(ENDLESS, {})
    transaction.commit()
    assert db.run_script("?[a] := *r[a]", {}, True)["rows"] == [[1]]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers that signal")
def test_a_signal_handler_may_run_a_script(db):
    seen = []
    previous = signal.signal(signal.SIGALRM, lambda *_: (seen.append(db.run_script("?[x] := x = 1", {}, True)), db.close()))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        with pytest.raises(Exception):
            db.run_script(ENDLESS, {}, True)
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert seen[0]["rows"] == [[1]]


def test_an_interpreter_may_end_while_a_script_runs():
    code = (
        "import threading, time; from cozo_embedded import CozoDbPy; db = CozoDbPy('mem', '', '{}')\n"
        f"threading.Thread(target=lambda: db.run_script({ENDLESS!r}, {{}}, True), daemon=True).start(); time.sleep(0.3)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_expressions():
    assert eval_expressions("$a + b", {"a": 1}, {"b": 2.5}) == 3.5
    assert eval_expressions("[x, $n]", {"n": None}, {"x": b"z"}) == [b"z", None]
    assert variables("a + f * $p", {"p": 1}) == {"a", "f"}
    for call in (
        lambda: eval_expressions("a +", {}, {}),
        lambda: eval_expressions("a", {}, {}),
        lambda: eval_expressions("1 / 'x'", {}, {}),
        lambda: variables("nope(", {}),
    ):
        with pytest.raises(Exception) as raised:
            call()
        assert raised.value.args[0]["message"]


def test_the_types_are_declared():
    import pathlib

    import cozo_embedded

    assert CozoDbPy.__module__ == "cozo_embedded" and CozoDbPy.__doc__
    assert (pathlib.Path(cozo_embedded.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize("engine", ["sqlite", "rocksdb"])
@pytest.mark.parametrize("end", ["close", "drop", "commit", "abort"])
def test_files_are_free_once_it_is_closed(tmp_path, engine, end):
    path = str(tmp_path / "db")
    for _ in range(20):
        db = CozoDbPy(engine, path, "{}")
        transaction = db.multi_transact(True)
        transaction.run_script("?[x] <- [[1]] :replace r {x}", {})
        if end == "drop":
            del transaction
        db.close()
        if end in ("commit", "abort"):
            with pytest.raises(Exception, match="ended"):
                getattr(transaction, end)()
        CozoDbPy(engine, path, "{}").close()
