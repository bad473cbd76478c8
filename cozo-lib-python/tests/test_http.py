"""The client pycozo against `cozo server`, whose binary is named by COZO_BINARY."""

import queue
import time

import pytest

import server

client = pytest.importorskip("pycozo.client")
requests = pytest.importorskip("requests")

pytestmark = pytest.mark.skipif(not server.BINARY, reason="COZO_BINARY names no binary; test.sh builds one")


class Server(server.Server):
    def client(self, auth=None):
        return client.Client("http", options={"host": self.address, "auth": auth}, dataframe=False)


@pytest.fixture(name="server")
def started(tmp_path):
    started = Server(tmp_path)
    yield started
    started.stop()


@pytest.fixture
def pycozo(server):
    return server.client()


def test_scripts(pycozo):
    pycozo.run("?[k, v] <- $rows :create r {k => v}", {"rows": [[1, "x"], [2, {"a": [1.5, None]}]]})
    result = pycozo.run("?[k, v] := *r[k, v]")
    assert result["headers"] == ["k", "v"]
    assert result["rows"] == [[1, "x"], [2, {"a": [1.5, None]}]]
    assert pycozo.run("?[k] := *r[k, v]", immutable=True)["rows"] == [[1], [2]]
    pycozo.close()


def test_errors(pycozo):
    with pytest.raises(client.QueryException) as raised:
        pycozo.run("?[x] := *nope[x]")
    assert raised.value.code == "query::relation_not_found"
    assert "nope" in repr(raised.value) and "nope" in str(raised.value)
    with pytest.raises(client.QueryException) as raised:
        pycozo.run("?[x] <- [[1]] :create r {x}", immutable=True)
    assert raised.value.code == "query::read_only"
    with pytest.raises(RuntimeError, match="nope"):
        pycozo.export_relations(["nope"])


def test_changes(pycozo):
    pycozo.run(":create r {k => v}")
    pycozo.put("r", [{"k": 1, "v": "x"}, {"k": 2, "v": "y"}])
    pycozo.insert("r", {"k": 3, "v": "w"})
    pycozo.update("r", {"k": 1, "v": "z"})
    pycozo.rm("r", {"k": 2})
    with pytest.raises(client.QueryException):
        pycozo.insert("r", {"k": 1, "v": "again"})
    assert pycozo.export_relations(["r"])["r"]["rows"] == [[1, "z"], [3, "w"]]
    pycozo.import_relations({"r": {"headers": ["k", "v"], "rows": [[5, "five"]]}})
    assert pycozo.run("?[k] := *r[k, _]")["rows"] == [[1], [3], [5]]
    with pytest.raises(RuntimeError):
        pycozo.import_relations({"nope": {"headers": [], "rows": []}})
    pycozo.run("::index create r:by_v {v}")
    assert pycozo.export_relations(["r", "r:by_v"])["r:by_v"]["rows"] == [["five", 5], ["w", 3], ["z", 1]]


def test_backups(pycozo, tmp_path):
    pycozo.run("?[k] <- [[1], [2]] :create r {k}")
    pycozo.backup("relative.db")
    pycozo.backup(str(tmp_path / "absolute.db"))
    pycozo.rm("r", {"k": 1})
    pycozo.import_from_backup("relative.db", ["r"])
    assert pycozo.run("?[k] := *r[k]")["rows"] == [[1], [2]]
    with pytest.raises(RuntimeError, match="outside"):
        pycozo.backup("../elsewhere.db")


def test_callbacks(server, pycozo):
    received = queue.Queue()
    number = pycozo.register_callback("r", lambda *change: received.put(change))
    # The client does not say when it listens.
    deadline = time.monotonic() + 60
    while "cozo_event_streams 1" not in requests.get(f"{server.address}/metrics", timeout=60).text:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    pycozo.run("?[k, v] <- [[1, 'x']] :create r {k => v}")
    pycozo.put("r", {"k": 1, "v": "y"})
    pycozo.rm("r", {"k": 1})
    assert received.get(timeout=60) == ("Put", [[1, "x"]], [])
    assert received.get(timeout=60) == ("Put", [[1, "y"]], [[1, "x"]])
    assert received.get(timeout=60) == ("Rm", [[1]], [[1, "y"]])
    pycozo.unregister_callback(number)


def test_large_results(pycozo):
    rows = pycozo.run("?[n, s] := n in int_range(100000), s = to_string(n)")["rows"]
    assert rows == [[n, str(n)] for n in range(100000)]
    pycozo.run("?[n, s] <- $rows :create r {n => s}", {"rows": rows})
    assert pycozo.run("?[count(n)] := *r[n, _]")["rows"] == [[100000]]


def test_tokens(tmp_path):
    (tmp_path / "token").write_text("secret")
    server = Server(tmp_path, "-b", "0.0.0.0", "--token-file", "token")
    try:
        assert server.client("secret").run("?[a] <- [[1]]")["rows"] == [[1]]
        for wrong in (None, "", "other"):
            with pytest.raises(requests.exceptions.JSONDecodeError):
                server.client(wrong).run("?[a] <- [[1]]")
    finally:
        server.stop()
