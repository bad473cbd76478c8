"""What the client pycozo does with pandas, and as an extension of IPython."""

import io
from contextlib import redirect_stdout

import pytest

client = pytest.importorskip("pycozo.client")
pandas = pytest.importorskip("pandas")


@pytest.fixture
def pycozo():
    opened = client.Client("mem")
    yield opened
    opened.close()


def test_results_are_frames(pycozo):
    frame = pycozo.run("?[k, v] <- [[1, 'x'], [2, null]]")
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["k", "v"] and frame["k"].tolist() == [1, 2]
    assert frame["v"][0] == "x" and pandas.isna(frame["v"][1])
    assert pycozo.run("?[k] <- [[$a]]", {"a": 5}, immutable=True)["k"].tolist() == [5]


def test_frames_go_in(pycozo):
    pycozo.create("people", "name", "age")
    pycozo.put("people", pandas.DataFrame({"name": ["Ann", "Bea"], "age": [30, 40]}))
    pycozo.put("people", {"name": "Cid", "age": 50})
    assert pycozo.run("?[name, age] := *people[name, age]")["age"].tolist() == [30, 40, 50]
    pycozo.rm("people", pandas.DataFrame({"name": ["Ann"], "age": [30]}))
    assert pycozo.run("?[name] := *people[name, _]")["name"].tolist() == ["Bea", "Cid"]


def test_relations_are_described(pycozo):
    pycozo.create("letters", "a", "b")
    assert pycozo.relations()["name"].tolist() == ["letters"]
    assert pycozo.columns("letters")["column"].tolist() == ["a", "b"]
    pycozo.remove("letters")
    assert len(pycozo.relations()) == 0


def test_held_transactions(pycozo):
    pycozo.run(":create r {k => v}")
    transaction = pycozo.multi_transact(True)
    transaction.run("?[k, v] <- [[1, 'x']] :put r {k => v}")
    # The client hands on what the module gives here: no frames, and no exception of its own.
    with pytest.raises(Exception, match="relation_not_found"):
        transaction.run("?[k] := *nope[k]")
    assert transaction.run("?[k] := *r[k, _]")["rows"] == [[1]]
    assert pycozo.run("?[k] := *r[k, _]")["k"].tolist() == []
    transaction.commit()
    assert pycozo.run("?[k] := *r[k, _]")["k"].tolist() == [1]
    undone = pycozo.multi_transact(True)
    undone.run("?[k] <- [[1]] :rm r {k}")
    undone.abort()
    with pytest.raises(Exception):
        undone.run("?[k] := *r[k, _]")
    assert pycozo.run("?[k] := *r[k, _]")["k"].tolist() == [1]


def test_backups(pycozo, tmp_path):
    pycozo.run("?[k, v] <- [[1, 'x'], [2, 'y']] :create r {k => v}")
    file = str(tmp_path / "backup.db")
    pycozo.backup(file)
    other = client.Client("mem")
    other.restore(file)
    other.run("?[k] <- [[1]] :rm r {k}")
    other.import_from_backup(file, ["r"])
    assert other.run("?[k, v] := *r[k, v]")["v"].tolist() == ["x", "y"]
    other.close()
    opened = client.Client("sqlite", file)
    assert opened.run("?[k] := *r[k, _]")["k"].tolist() == [1, 2]
    opened.close()
    with pytest.raises(Exception):
        pycozo.backup(file)


def test_export_and_import(pycozo):
    pycozo.run("?[k, v] <- [[1, 'x']] :create r {k => v}")
    exported = pycozo.export_relations(["r"])
    assert exported["r"]["headers"] == ["k", "v"] and exported["r"]["rows"] == [[1, "x"]]
    pycozo.import_relations({"-r": {"headers": ["k"], "rows": [[1]]}})
    assert pycozo.export_relations(["r"])["r"]["rows"] == []


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """A shell of IPython with the extension."""
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell_module = pytest.importorskip("IPython.core.interactiveshell")
    made = shell_module.InteractiveShell()
    made.run_line_magic("load_ext", "pycozo.ipyext")
    made.run_line_magic("cozo_open", "'mem', ''")
    yield made
    shell_module.InteractiveShell.clear_instance()


def test_magics_run_scripts(shell):
    shell.run_cell_magic("cozo", "", "?[k, v] <- [[1, 'x'], [2, 'y']] :create r {k => v}")
    shell.run_line_magic("cozo_set", "wanted 2")
    found = shell.run_cell_magic("cozo", "found", "?[v] := *r[$wanted, v]")
    frame = shell.user_ns.get("found", found)
    assert "y" in str(getattr(frame, "data", frame))
    assert shell.run_line_magic("cozo_params", "") == {"wanted": 2}
    shell.run_line_magic("cozo_clear", "")
    assert not shell.run_line_magic("cozo_params", "")


def test_magics_show_errors(shell):
    shown = io.StringIO()
    with redirect_stdout(shown):
        result = shell.run_cell("%%cozo\n?[x] := *nope[x]")
    assert "nope" in shown.getvalue() + repr(result.error_in_exec) + repr(result.result)


def test_magics_run_files(shell, tmp_path):
    file = tmp_path / "script.cozo"
    file.write_text("?[x] := x = 'from a file'", encoding="utf-8")
    assert "from a file" in str(shell.run_line_magic("cozo_run_file", repr(str(file))))
