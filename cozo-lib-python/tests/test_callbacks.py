"""Functions that are told of changes."""

import queue
import subprocess
import sys
import threading

import cozo
import pytest
from cozo_embedded import CozoDbPy

TIMEOUT = 30


@pytest.fixture
def changes(db):
    """The changes of the relation r, as they come."""
    db.run_script(":create r {k => v}", {}, False)
    received = queue.Queue()
    db.register_callback("r", lambda *change: received.put(change))
    return received


def test_a_callback_gets_what_changed(db, run, changes):
    run("?[k, v] <- [[2, 'b'], [1, b'a']] :put r {k => v}".replace("b'a'", "$bytes"), {"bytes": b"a"})
    assert changes.get(timeout=TIMEOUT) == ("Put", [[1, b"a"], [2, "b"]], [])
    run("?[k, v] <- [[1, null]] :update r {k => v}")
    assert changes.get(timeout=TIMEOUT) == ("Put", [[1, None]], [[1, b"a"]])
    run("?[k] <- [[1], [7]] :rm r {k}")
    assert changes.get(timeout=TIMEOUT) == ("Rm", [[1], [7]], [[1, None]])
    with pytest.raises(Exception):
        run("{?[k, v] <- [[3, 3]] :put r {k => v}} {?[k] <- [[9]] :delete r {k}}")
    transaction = db.multi_transact(True)
    transaction.run_script("?[k, v] <- [[4, 4]] :put r {k => v}", {})
    transaction.commit()
    assert changes.get(timeout=TIMEOUT) == ("Put", [[4, 4]], [])
    assert changes.empty()


def test_numbers_and_the_end(db, run):
    run(":create r {k}")
    received = queue.Queue()
    first = db.register_callback("r", lambda *change: received.put(change))
    second = db.register_callback("not.there.yet", print)
    assert (first, second) == (0, 1)
    assert db.unregister_callback(second) is True
    assert db.unregister_callback(second) is False
    run("?[k] <- [[1]] :put r {k}")
    assert received.get(timeout=TIMEOUT) == ("Put", [[1]], [])
    assert db.unregister_callback(first) is True
    run("?[k] <- [[2]] :put r {k}")
    assert received.empty()
    for wrong in (lambda: db.register_callback("r", "text"), lambda: db.register_callback(1, print)):
        with pytest.raises(TypeError):
            wrong()


def test_exceptions_are_printed_and_the_next_change_comes(db, run, capfd):
    run(":create r {k}")
    received = queue.Queue()

    def callback(op, new, old):
        received.put(new)
        if new == [[1]]:
            raise ValueError("no ones, please")
        if new == [[2]]:
            sys.exit("no twos either")

    db.register_callback("r", callback)
    for k in (1, 2, 3):
        run("?[k] <- [[$k]] :put r {k}", {"k": k})
    assert [received.get(timeout=TIMEOUT) for _ in range(3)] == [[[1]], [[2]], [[3]]]
    shown = capfd.readouterr().err
    assert "no ones, please" in shown and "no twos either" in shown


def test_a_callback_may_use_the_database(db, run, changes):
    run(":create copy {k => v}")
    finished = threading.Event()

    def copy(op, new, old):
        db.run_script("?[k, v] <- $new :put copy {k => v}", {"new": new}, False)
        if new[0][0] == 99:
            finished.set()

    db.register_callback("r", copy)

    def write(numbers):
        for k in numbers:
            run("?[k, v] <- [[$k, 'x']] :put r {k => v}", {"k": k})

    threads = [threading.Thread(target=write, args=(range(start, 99, 4),)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(TIMEOUT)
        assert not thread.is_alive()
    write([99])
    assert finished.wait(TIMEOUT)
    assert run("?[count(k)] := *copy{k}") == [[100]]
    assert sorted(changes.get(timeout=TIMEOUT)[1][0][0] for _ in range(100)) == list(range(100))


def test_a_callback_that_is_slow_holds_nobody_up(db, run):
    run(":create r {k}")
    go_on, entered = threading.Event(), threading.Event()

    def wait(op, new, old):
        entered.set()
        go_on.wait(TIMEOUT)

    db.register_callback("r", wait)
    for k in range(50):
        run("?[k] <- [[$k]] :put r {k}", {"k": k})
    assert entered.wait(TIMEOUT)
    assert run("?[count(k)] := *r[k]") == [[50]]
    go_on.set()


def test_closing_ends_callbacks(db, run, changes):
    run("?[k, v] <- [[1, 1]] :put r {k => v}")
    assert db.close() is True
    assert changes.get(timeout=TIMEOUT) == ("Put", [[1, 1]], [])
    assert db.unregister_callback(0) is False


def test_an_interpreter_may_end_with_callbacks():
    code = (
        "from cozo_embedded import CozoDbPy; db = CozoDbPy('mem', '', '{}'); db.run_script(':create r {k}', {}, False)\n"
        "db.register_callback('r', lambda *_: None)\n"
        "for k in range(200): db.run_script('?[k] <- [[$k]] :put r {k}', {'k': k}, False)"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_changes_of_a_shared_log_go_on_from_a_position(tmp_path):
    log = str(tmp_path / "log")
    one, other = cozo.connect(shared=log), cozo.connect(tmp_path / "other.db", shared=log)
    changes = one.changes("r")
    assert changes.next(timeout=0) is None
    one.create("r", [{"k": 1, "v": 1}], key="k")
    first = changes.next(timeout=TIMEOUT)
    assert first == cozo.SharedChange("r", "put", [[1, 1]], [], first.position)
    assert changes.position == first.position
    one.put("r", {"k": 1, "v": 2})
    one.remove("r", {"k": 1})
    expected = [("put", [[1, 2]], [[1, 1]]), ("remove", [[1]], [[1, 2]])]
    for db in (one, other):
        with db.changes("r", after=first.position) as later:
            found = [later.next(timeout=TIMEOUT) for _ in expected]
        assert [change[1:4] for change in found] == expected
        with pytest.raises(cozo.Error, match="closed"):
            later.next(timeout=1)
    for wrong, code in (("1", "replica::bad_position"), ("99.0", "replica::changes_ahead")):
        with pytest.raises(cozo.Error) as refused:
            one.changes("r", after=wrong)
        assert refused.value.code == code
    with pytest.raises(cozo.Error, match="no shared log"):
        cozo.connect().changes("r")
    one.close()
    with pytest.raises(cozo.Error, match="ended"):
        changes.next()
    other.close()
