"""The module under the client pycozo, which was written for CozoDB."""

import queue

import pytest

client = pytest.importorskip("pycozo.client")


@pytest.fixture
def pycozo():
    opened = client.Client("mem", dataframe=False)
    yield opened
    opened.close()


def test_scripts(pycozo):
    pycozo.run("?[k, v] <- $rows :create r {k => v}", {"rows": [[1, "x"], [2, "y"]]})
    assert pycozo.run("?[k, v] := *r[k, v]")["rows"] == [[1, "x"], [2, "y"]]
    assert pycozo.run("?[k] := *r[k, v]", immutable=True)["headers"] == ["k"]


def test_changes(pycozo):
    pycozo.run(":create r {k => v}")
    pycozo.put("r", [{"k": 1, "v": "x"}, {"k": 2, "v": "y"}])
    pycozo.update("r", {"k": 1, "v": "z"})
    pycozo.rm("r", {"k": 2})
    with pytest.raises(client.QueryException):
        pycozo.insert("r", {"k": 1, "v": "again"})
    assert pycozo.export_relations(["r"])["r"]["rows"] == [[1, "z"]]
    pycozo.import_relations({"r": {"headers": ["k", "v"], "rows": [[5, "five"]]}})
    assert pycozo.run("?[k] := *r[k, _]")["rows"] == [[1], [5]]


def test_errors(pycozo):
    with pytest.raises(client.QueryException) as raised:
        pycozo.run("?[x] := *nope[x]")
    assert raised.value.code == "query::relation_not_found"
    assert "nope" in repr(raised.value)


def test_callbacks_and_triggers(pycozo):
    pycozo.run(":create r {k => v}")
    pycozo.run(":create log {k, v}")
    pycozo.run("::set_triggers r on put { ?[k, v] := _new[k, v] :put log {k, v} }")
    received = queue.Queue()
    number = pycozo.register_callback("log", lambda *change: received.put(change))
    pycozo.put("r", {"k": 1, "v": "x"})
    assert received.get(timeout=30) == ("Put", [[1, "x"]], [])
    pycozo.unregister_callback(number)
    pycozo.put("r", {"k": 2, "v": "y"})
    assert received.empty()
