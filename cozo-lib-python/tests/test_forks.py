"""Processes that are forked from one that has a database open."""

import os

import pytest

import programs

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")

ENGINES = ["mem", "sqlite", "rocksdb"]

# What the programs have in common: `child(work)` runs work in a forked process, and gives what that returns as text.
COMMON = """
import gc, multiprocessing, os, sys, threading, time
from cozo_embedded import CozoDbPy, eval_expressions

engine, path = sys.argv[1:3]


def child(work):
    reader, writer = os.pipe()
    number = os.fork()
    if number == 0:
        try:
            said = str(work())
        except BaseException as error:
            said = repr(error)
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with open(reader) as answer:
        said = answer.read()
    assert os.waitpid(number, 0)[1] == 0, "the child ended badly"
    return said


def code(work):
    try:
        work()
    except Exception as error:
        return error.args[0]["code"]
    return "no error"


def put(db, k):
    db.run_script("?[k] <- [[$k]] :put r {k}", {"k": k}, False)


def rows(db):
    return [k for [k] in db.run_script("?[k] := *r[k]", {}, True)["rows"]]

"""


def printed(code, engine, tmp_path):
    return programs.printed(COMMON + code, engine, tmp_path / "db")


@pytest.mark.parametrize("engine", ENGINES)
def test_every_call_in_a_child_says_so(engine, tmp_path):
    program = """
db = CozoDbPy(engine, path, "{}")
db.run_script(":create r {k}", {}, False)
put(db, 1)
held = db.multi_transact(True)
held.run_script("?[k] <- [[2]] :put r {k}", {})
number = db.register_callback("r", lambda *change: None)
db.register_fixed_rule("One", 1, lambda inputs, options: [[1]])
calls = {
    "read": lambda: rows(db),
    "write": lambda: put(db, 3),
    "rule": lambda: db.run_script("?[x] <~ One()", {}, True),
    "arrow": lambda: db.run_script_arrow("?[k] := *r[k]", {}, True),
    "syntax": lambda: db.run_script("?[", {}, True),
    "export": lambda: db.export_relations(["r"]),
    "import": lambda: db.import_relations({"r": {"headers": ["k"], "rows": [[4]]}}),
    "backup": lambda: db.backup(path + ".backup"),
    "restore": lambda: db.restore(path),
    "import_from_backup": lambda: db.import_from_backup(path, ["r"]),
    "callback": lambda: db.register_callback("r", print),
    "no callback": lambda: db.unregister_callback(number),
    "add rule": lambda: db.register_fixed_rule("Two", 1, print),
    "no rule": lambda: db.unregister_fixed_rule("One"),
    "transaction": lambda: db.multi_transact(False),
    "held run": lambda: held.run_script("?[k] := *r[k]", {}),
    "held commit": held.commit,
    "held abort": held.abort,
}
print(child(lambda: sorted({code(call) for call in calls.values()})))
print(child(lambda: (db.close(), db.close(), code(lambda: rows(db)))))


def drop():
    global db, held
    del calls["held commit"], calls["held abort"]
    db = held = None
    calls.clear()
    gc.collect()
    return eval_expressions("1 + 1", {}, {})


print(child(drop))
held.commit()
put(db, 5)
print(rows(db), db.close())
if engine != "mem":
    print(rows(CozoDbPy(engine, path, "{}")))
"""
    expected = ["['db::forked']", "(True, False, 'db::closed')", "2", "[1, 2, 5] True"]
    assert printed(program, engine, tmp_path).splitlines() == expected + ["[1, 2, 5]"] * (engine != "mem")


@pytest.mark.parametrize("engine", ENGINES)
def test_nothing_of_the_parent_is_lost(engine, tmp_path):
    program = """
db = CozoDbPy(engine, path, "{}")
db.run_script(":create r {k}", {}, False)
ended = threading.Event()


def write(start):
    k = start
    while not ended.is_set() and k < start + 20000:
        put(db, k)
        k += 4
    return k


# Other threads are at work at every moment at which a process is forked.
threads = [threading.Thread(target=write, args=(start,)) for start in range(4)]
for thread in threads:
    thread.start()
for number in range(30):
    assert child(lambda: (code(lambda: put(db, -1)), db.close())) == "('db::forked', True)"
ended.set()
for thread in threads:
    thread.join()
before = rows(db)
assert -1 not in before and all(rest in {k % 4 for k in before} for rest in range(4))
db.close()
if engine != "mem":
    assert rows(CozoDbPy(engine, path, "{}")) == before
print("all there")
"""
    assert printed(program, engine, tmp_path) == "all there\n"


@pytest.mark.parametrize("engine", ["mem", "sqlite"])
def test_a_child_opens_a_database_of_its_own(engine, tmp_path):
    program = """
db = CozoDbPy(engine, path, "{}")
db.run_script(":create r {k}", {}, False)
# Large enough to be divided among threads, which the child does not have.
many = [[k] for k in range(300000)]
db.run_script("?[k] <- $many :put r {k}", {"many": many}, False)
work = "s[k, n] := *r[k], n = k % 1000 ?[n, count(k)] := s[k, n] :order n :limit 1"
pages = "e[a, b] := *r[a], b = (a * 7) % 100000 ?[count(n)] := p[n, _] p[n, s] <~ PageRank(e[])"


def own():
    other = CozoDbPy(engine, f"{path}-{os.getpid()}", "{}")
    other.run_script("?[k] <- $many :create r {k}", {"many": many}, False)
    results = [other.run_script(script, {}, True)["rows"] for script in (work, pages)]
    threads = [threading.Thread(target=lambda: results.append(other.run_script(work, {}, True)["rows"])) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results == [results[0], results[1]] + [results[0]] * 3, results[0], other.close()


expected = [db.run_script(script, {}, True)["rows"] for script in (work, pages)]
print(expected[0], child(own))
# A child's child.
print(child(lambda: child(own)))
"""
    own = "(True, [[0, 300]], True)"
    assert printed(program, engine, tmp_path).splitlines() == [f"[[0, 300]] {own}", own]


def test_a_child_waits_for_its_parent_to_close(tmp_path):
    program = """
db = CozoDbPy(engine, path, "{}")
db.run_script(":create r {k}", {}, False)
put(db, 1)
from_parent, to_child = os.pipe()
from_child, to_parent = os.pipe()
number = os.fork()
if number == 0:
    said = [code(lambda: CozoDbPy(engine, path, "{}"))]
    os.write(to_parent, b".")
    os.read(from_parent, 1)
    own = CozoDbPy(engine, path, "{}")
    for k in range(2, 3000):
        put(own, k)
    said.append(len(rows(own)))
    os.write(to_parent, b".")
    os.read(from_parent, 1)
    own.close()
    print(said, flush=True)
    os._exit(0)
os.read(from_child, 1)
for k in range(-2000, 0):
    put(db, k)
db.close()
os.write(to_child, b".")
os.read(from_child, 1)
# Another reader, which is the last one when it closes: it must find the child's locks, and not remove the child's log.
reader = CozoDbPy(engine, path, '{"read_only": true}')
print(len(rows(reader)))
reader.close()
print(code(lambda: CozoDbPy(engine, path, "{}")))
os.write(to_child, b".")
os.waitpid(number, 0)
again = CozoDbPy(engine, path, "{}")
print(len(rows(again)))
import sqlite3
print(sqlite3.connect(path).execute("pragma integrity_check").fetchall())
"""
    lines = printed(program, "sqlite", tmp_path).splitlines()
    assert lines == ["4999", "storage::locked", "['storage::locked', 4999]", "4999", "[('ok',)]"]


def test_a_parent_that_is_killed_leaves_no_lock_to_its_child(tmp_path):
    program = """
middle = os.fork()
if middle == 0:
    db = CozoDbPy(engine, path, "{}")
    db.run_script(":create r {k}", {}, False)
    put(db, 1)
    if os.fork() == 0:
        time.sleep(30)
        os._exit(0)
    os.kill(os.getpid(), 9)
os.waitpid(middle, 0)
print(rows(CozoDbPy(engine, path, "{}")))
"""
    assert printed(program, "sqlite", tmp_path) == "[1]\n"


def test_rocksdb_cannot_be_used_by_a_child_of_its_user(tmp_path):
    program = """
print(child(lambda: CozoDbPy(engine, path, "{}").close()))
db = CozoDbPy(engine, path, "{}")
print(child(lambda: code(lambda: CozoDbPy(engine, path, "{}"))))
print(child(lambda: code(lambda: CozoDbPy(engine, path + ".other", "{}"))))
print(child(lambda: CozoDbPy("mem", "", "{}").close()))
db.close()
print(child(lambda: code(lambda: CozoDbPy(engine, path, '{"read_only": true}'))))
"""
    assert printed(program, "rocksdb", tmp_path).split() == ["True", "db::forked", "db::forked", "True", "db::forked"]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers(engine, method, tmp_path):
    (tmp_path / "workers.py").write_text(
        COMMON
        + """
db = None


def read(k):
    try:
        global db
        db = db or CozoDbPy(engine, path, '{"read_only": true}')
        return rows(db)
    except Exception as error:
        return error.args[0]["code"]


if __name__ == "__main__":
    first = CozoDbPy(engine, path, "{}")
    first.run_script(":create r {k}", {}, False)
    put(first, 1)
    if sys.argv[3] == "fork":
        db = first
    else:
        first.close()
    with multiprocessing.get_context(sys.argv[3]).Pool(2) as pool:
        print(set(map(str, pool.map(read, range(20)))))
    if sys.argv[3] == "fork":
        put(first, 2)
        print(rows(first))
"""
    )
    said = programs.printed(
        "import runpy, sys; sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
        if method == "fork"
        else "import subprocess, sys; subprocess.run([sys.executable, *sys.argv[1:]], check=True)",
        tmp_path / "workers.py",
        engine,
        tmp_path / "db",
        method,
    )
    if method == "fork":
        assert said == "{'db::forked'}\n[1, 2]\n"
    else:
        found = {"mem": "query::relation_not_found"}.get(engine, "[1]")
        assert said == f"{{'{found}'}}\n"


def test_programs_that_are_started_hold_no_locks(tmp_path):
    program = """
import subprocess
for number in range(10):
    db = CozoDbPy(engine, path, "{}")
    started = subprocess.Popen(["sleep", "30"], preexec_fn=(lambda: None) if number % 2 else None, close_fds=bool(number % 3))
    db.close()
    CozoDbPy(engine, path, "{}").close()
    started.kill()
    started.wait()
print("free")
"""
    for engine in ("sqlite", "rocksdb"):
        assert printed(program, engine, tmp_path / engine if (tmp_path / engine).mkdir() else tmp_path / engine) == "free\n"


@pytest.mark.parametrize("engine", ENGINES)
def test_functions_of_the_database_that_fork(engine, tmp_path):
    program = """
db = CozoDbPy(engine, path, "{}")
db.run_script(":create r {k}", {}, False)
children = []


def fork(*_):
    number = os.fork()
    if number:
        children.append(number)
    return [[1]]


db.register_fixed_rule("Fork", 1, fork)
db.register_callback("r", fork)
print(db.run_script("?[k] <~ Fork() :put r {k}", {}, False)["rows"])
held = db.multi_transact(True)
print(held.run_script("?[k] <~ Fork()", {})["rows"])
held.commit()
threads = [threading.Thread(target=lambda: db.run_script("?[k] <~ Fork()", {}, True)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
deadline = time.time() + 30
while len(children) < 5 and time.time() < deadline:
    time.sleep(0.01)
# Each child ends by itself, without a word and without a change.
print(len(children), {os.waitpid(number, 0)[1] for number in children}, rows(db))
"""
    assert printed(program, engine, tmp_path).splitlines() == ["[['OK']]", "[[1]]", "5 {0} [1]"]


def test_children_draw_numbers_of_their_own():
    program = """
db = CozoDbPy("mem", "", "{}")
drawn = lambda: eval_expressions("[rand_uuid_v4(), rand_int(0, 1000000000)]", {}, {})
drawn()
print(len({child(drawn) for _ in range(5)} | {str(drawn())}))
"""
    assert programs.printed(COMMON + program, "mem", "") == "6\n"
