"""The script cases of `conformance/` through the Python module, and those without calls over HTTP."""

import json
import os

import corpus
import pytest
import requests
from cozo_embedded import CozoDbPy
from server import Server


class Failed(Exception):
    """A step did not do as it should."""


class Database:
    def __init__(self, folder):
        self.db = CozoDbPy("mem", "", "{}")
        self.folder = folder
        self.transactions = {}

    def substitute(self, value):
        if isinstance(value, str):
            return value.replace("{{TMP}}", str(self.folder))
        if isinstance(value, list):
            return [self.substitute(item) for item in value]
        if isinstance(value, dict):
            return {self.substitute(key): self.substitute(item) for key, item in value.items()}
        return value

    def step(self, step):
        script = self.substitute(step["script"])
        params = corpus.decode(step.get("params", {}))
        if "op" not in step:
            return self.db.run_script(script, params, step.get("immutable", False))
        arg = corpus.decode(self.substitute(step.get("arg")))
        name = step.get("name", "t")
        answer = {
            "file": lambda: (self.folder / name).write_text(script, encoding="utf-8"),
            "import": lambda: self.db.import_relations(arg),
            "export": lambda: self.db.export_relations(arg),
            "backup": lambda: self.db.backup(arg),
            "restore": lambda: self.db.restore(arg),
            "import_from_backup": lambda: self.db.import_from_backup(*arg),
            "reopen": lambda: setattr(self, "db", CozoDbPy("mem", "", "{}")),
            "begin": lambda: self.transactions.update({name: self.db.multi_transact(step.get("write") == "true")}),
            "txrun": lambda: self.transactions[name].run_script(script, params),
            "commit": lambda: self.transactions[name].commit(),
            "abort": lambda: self.transactions[name].abort(),
        }[step["op"]]()
        if step["op"] == "txrun":
            return answer
        if step["op"] != "export":
            return {"headers": [], "rows": []}
        rows = [[name, data["headers"], data["rows"]] for name, data in sorted(answer.items())]
        return {"headers": ["relation", "headers", "rows"], "rows": rows}


def check(database, step):
    try:
        got = database.step(step)
    except Exception as error:
        message = error.args[0] if error.args else ""
        code = message.get("code", "") if isinstance(message, dict) else ""
        if not step["expected"].get("error"):
            raise Failed(f"{step['script']}\ngot an error: {message}") from None
        return
    if step["expected"].get("error"):
        raise Failed(f"{step['script']}\nexpected an error, got {got['rows'][:20]}")
    difference = None if step.get("nocheck") else corpus.difference(step, got)
    if difference:
        raise Failed(f"{step['script']}\n{difference}")


@pytest.mark.parametrize("area", corpus.areas())
def test_area(area, tmp_path):
    complaints = []
    for name, steps in corpus.load(area):
        folder = tmp_path / name
        folder.mkdir()
        database = Database(folder)
        try:
            for step in steps:
                check(database, step)
        except Failed as failed:
            complaints.append(f"--- {area}/{name}\n{failed}")
        finally:
            database.db.close()
    assert not complaints, "\n".join(complaints)


class OverHttp:
    """A server with a database of its own."""

    def __init__(self, folder):
        self.server = Server(folder)

    def step(self, step):
        body = {"script": step["script"], "params": step.get("params", {}), "immutable": step.get("immutable", False)}
        try:
            answer = requests.post(f"{self.server.address}/text-query", json=body, timeout=60).json()
        except requests.RequestException as error:
            pytest.fail(f"the server does not answer: {error}")
        if not answer.get("ok"):
            raise RuntimeError(answer)
        return answer


@pytest.mark.skipif(not os.environ.get("COZO_BINARY"), reason="COZO_BINARY names no binary; test.sh builds one")
@pytest.mark.parametrize("area", corpus.areas())
def test_area_over_http(area, tmp_path):
    complaints = []
    for name, steps in corpus.load(area):
        # Calls have routes of their own, and JSON has neither bytes nor all floats.
        if any("op" in step or '"$' in json.dumps(step["expected"]) for step in steps):
            continue
        database = OverHttp(tmp_path)
        try:
            for step in steps:
                check(database, step)
        except Failed as failed:
            complaints.append(f"--- {area}/{name}\n{failed}")
        finally:
            database.server.stop()
    assert not complaints, "\n".join(complaints)
