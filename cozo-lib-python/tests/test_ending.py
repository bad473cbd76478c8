"""The end of the interpreter, whatever runs then."""

import signal
import sys

import pytest

import programs

ENGINES = ["mem", "sqlite", "rocksdb"]

COMMON = """
import sys, threading, time
from cozo_embedded import CozoDbPy
engine, path = sys.argv[1:3]
db = CozoDbPy(engine, path, "{}")
db.run_script(":create r {k}", {}, False)


def put(k):
    db.run_script("?[k] <- [[$k]] :put r {k}", {"k": k}, False)

"""


def ends_well(program, engine, path, times, timeout=60):
    for number in range(times):
        ended = programs.run(COMMON + program, engine, f"{path}-{number}", timeout=timeout)
        assert (ended.returncode, ended.stderr) == (0, ""), (number, ended)
        yield ended.stdout


def test_callbacks_get_what_was_committed(tmp_path):
    program = """
db.register_callback("r", lambda op, new, old: print(new[0][0]))
for k in range(300):
    put(k)
"""
    for engine in ENGINES:
        for said in ends_well(program, engine, tmp_path / engine, 14):
            assert said == "".join(f"{k}\n" for k in range(300))


@pytest.mark.parametrize("engine", ENGINES)
def test_callbacks_of_many_threads(engine, tmp_path):
    program = """
for number in range(5):
    db.register_callback("r", lambda *change: print(change, file=open("/dev/null", "w")))


def write(start):
    k = start
    while True:
        put(k)
        k += 5


for start in range(4):
    threading.Thread(target=write, args=(start,), daemon=True).start()
time.sleep(0.3)
"""
    # What daemon threads raise at the end is theirs.
    for number in range(5):
        ended = programs.run(COMMON + program, engine, f"{tmp_path}/{engine}-{number}")
        assert ended.returncode == 0, ended


SLOW = {
    "callbacks that sleep": """
db.register_callback("r", lambda *change: time.sleep(100))
put(1)
""",
    "callbacks that do not end": """
def stubborn(*change):
    while True:
        try:
            while True:
                time.sleep(0.0001)
        except BaseException:
            pass


db.register_callback("r", stubborn)
db.register_callback("r", stubborn)
put(1)
""",
    "callbacks that wait for each other": """
db.register_callback("r", lambda *change: threading.Event().wait())
put(1)
""",
    "rules that sleep": """
db.register_fixed_rule("Sleep", 1, lambda inputs, options: time.sleep(100))
threading.Thread(target=lambda: db.run_script("?[x] <~ Sleep()", {}, True), daemon=True).start()
""",
    "rules that are at work": """
def busy(inputs, options):
    while True:
        sum(range(1000))


db.register_fixed_rule("Busy", 1, busy)
for _ in range(3):
    threading.Thread(target=lambda: db.run_script("?[x] <~ Busy()", {}, True), daemon=True).start()
""",
    "queries": """
endless = "n[x] := x = 0 n[y] := n[x], y = x + 1, y < 1000000000 ?[count(x)] := n[x]"
for _ in range(3):
    threading.Thread(target=lambda: db.run_script(endless, {}, True), daemon=True).start()
""",
    "transactions": """
held = db.multi_transact(True)
held.run_script("?[k] <- [[1]] :put r {k}", {})
db.register_fixed_rule("Sleep", 1, lambda inputs, options: time.sleep(100))
threading.Thread(target=lambda: held.run_script("?[x] <~ Sleep()", {}), daemon=True).start()
""",
}


@pytest.mark.parametrize("what", SLOW)
def test_what_does_not_end_is_left(what, tmp_path):
    for engine in ENGINES:
        ended = programs.run(COMMON + SLOW[what] + "time.sleep(0.2)", engine, tmp_path / engine)
        assert ended.returncode == 0, f"{engine}: {ended.returncode}\n{ended.stdout}\n{ended.stderr}"


@pytest.mark.parametrize("engine", ["sqlite", "rocksdb"])
def test_what_is_never_closed_is_closed(engine, tmp_path):
    program = """
loop = [db]
loop.append(loop)
held = db.multi_transact(True)
held.run_script("?[k] <- [[-1]] :put r {k}", {})
for k in range(100):
    put(k)
"""
    list(ends_well(program, engine, tmp_path / "db", 3))
    assert not any("commits" in file.name for file in tmp_path.rglob("*"))
    again = """
print(db.run_script("?[count(k)] := *r[k]", {}, True)["rows"])
"""
    opened = COMMON.replace('db.run_script(":create r {k}", {}, False)', "")
    assert programs.printed(opened + again, engine, f"{tmp_path}/db-0") == "[[100]]\n"


def test_functions_of_atexit_have_the_database(tmp_path):
    program = """
import atexit
atexit.register(lambda: (put(7), print(db.run_script("?[k] := *r[k]", {}, True)["rows"], db.close())))
"""
    assert list(ends_well(program, "sqlite", tmp_path / "db", 1)) == ["[[7]] True\n"]


def test_calls_after_the_end_say_so(tmp_path):
    program = """
class Last:
    def __del__(self):
        try:
            put(1)
        except Exception as error:
            print(error.args[0]["code"])
        print(db.close())


last = Last()
"""
    assert list(ends_well(program, "mem", tmp_path / "db", 1)) == ["db::closed\nFalse\n"]


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no signals")
@pytest.mark.parametrize("times_before", [0, 30])
def test_control_c_stops_a_rule_that_sleeps(times_before, tmp_path):
    program = f"""
import _thread
seen = []


def sleep(inputs, options):
    try:
        time.sleep(options["seconds"])
        # The interpreter's switch is met by the next instructions.
        for _ in range(100000):
            pass
        seen.append("went on")
    except BaseException as error:
        seen.append(type(error).__name__)
        raise
    return [[1]]


db.register_fixed_rule("Sleep", 1, sleep)
script = "?[k] <~ Sleep(seconds: $seconds) :put r {{k}}"
for _ in range({times_before}):
    db.run_script(script, {{"seconds": 0.0}}, False)
db.run_script("?[k] := *r[k] :rm r {{k}}", {{}}, False)
seen.clear()
threading.Timer(0.2, _thread.interrupt_main).start()
started = time.monotonic()
try:
    db.run_script(script, {{"seconds": 3.0}}, False)
except KeyboardInterrupt:
    print(time.monotonic() - started < 2)
while not seen:
    time.sleep(0.01)
print(seen, db.run_script("?[k] := *r[k]", {{}}, True)["rows"])
"""
    assert list(ends_well(program, "mem", tmp_path / "db", 1)) == ["True\n['SystemExit'] []\n"]


def test_a_timeout_stops_a_rule_that_sleeps(tmp_path):
    program = """
db.register_fixed_rule("Sleep", 1, lambda inputs, options: time.sleep(20))
started = time.monotonic()
try:
    db.run_script("?[x] <~ Sleep() :timeout 0.2", {}, True)
except Exception as error:
    print(error.args[0]["code"], time.monotonic() - started < 5)


def killed():
    try:
        db.run_script("?[x] <~ Sleep()", {}, True)
    except Exception as error:
        print(error.args[0]["code"], time.monotonic() - started < 5)


thread = threading.Thread(target=killed)
started = time.monotonic()
thread.start()
running = []
while len(running) < 2:
    running = db.run_script("::running", {}, True)["rows"]
db.run_script("::kill $id".replace("$id", str(running[0][0])), {}, False)
thread.join()
"""
    assert list(ends_well(program, "mem", tmp_path / "db", 1)) == ["eval::killed True\neval::killed True\n"]


@pytest.mark.skipif(not hasattr(signal, "SIGINT"), reason="the system has no signals")
def test_control_c_ends_the_wait_at_the_end(tmp_path):
    program = """
import os, signal
db.register_callback("r", lambda *change: time.sleep(100))
put(1)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
threading.Thread(target=time.sleep, args=(0.01,)).start()
"""
    ended = programs.run(COMMON + program, "mem", tmp_path / "db")
    assert ended.returncode in (0, 1, 130, -signal.SIGINT), ended
