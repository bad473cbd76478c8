"""Fixed rules written in Python."""

import threading

import pytest


def test_a_rule_gets_rows_and_options_and_gives_rows(db, run):
    seen = []

    def rule(inputs, options):
        seen.append((inputs, options))
        return [(row[0], options["word"]) for row in inputs[0]]

    assert db.register_fixed_rule("Label", 2, rule) is None
    run("?[k, v] <- [[2, null], [1, {'a': [1.5]}]] :create s {k => v}")
    script = "r[x] <- [[7], [8]] ?[a, b] <~ Label(r[x], *s[], word: 'w' ++ $p, list: [1, 'x', true])"
    assert run(script, {"p": "!"}) == [[7, "w!"], [8, "w!"]]
    inputs, options = seen[0]
    assert inputs == [[[7], [8]], [[1, {"a": [1.5]}], [2, None]]]
    assert options == {"word": "w!", "list": [1, "x", True]}
    assert run(script, {"p": "?"})[0] == [7, "w?"]
    assert ["Label"] in run("::fixed_rules")


@pytest.mark.parametrize("rows", [[[1], [2]], ((1,), (2,)), [(2,), [1], (1,)], ([n] for n in (1, 2))])
def test_rows_are_any_sequence_of_lists_or_tuples(db, run, rows):
    db.register_fixed_rule("Rows", 1, lambda inputs, options: rows)
    assert run("?[x] <~ Rows()") == [[1], [2]]


def test_what_a_rule_raises_fails_the_query(db, run):
    def failing(inputs, options):
        raise ValueError("out of paper")

    db.register_fixed_rule("Failing", 1, failing)
    run(":create r {x}")
    with pytest.raises(Exception) as raised:
        run("{?[x] <- [[1]] :put r {x}} {?[x] <~ Failing() :put r {x}}")
    assert "out of paper" in raised.value.args[0]["message"]
    assert run("?[x] := *r[x]") == []


@pytest.mark.parametrize("rows", [[[1, 2]], [[]], 5, None, [1], ["ab"], [{"x": 1}], [[object()]]])
def test_bad_rows_fail_the_query(db, run, rows):
    db.register_fixed_rule("Bad", 1, lambda inputs, options: rows)
    with pytest.raises(Exception) as raised:
        run("?[x] <~ Bad()")
    assert raised.value.args[0]["ok"] is False


def test_a_row_of_the_wrong_length_has_its_code(db, run):
    db.register_fixed_rule("Bad", 1, lambda inputs, options: [[1, 2]])
    with pytest.raises(Exception) as raised:
        run("?[x] <~ Bad()")
    assert raised.value.args[0]["code"] == "parser::simple_fixed_rule_arity_mismatch"


def test_names_are_taken_and_given_back(db, run):
    db.register_fixed_rule("One", 1, lambda inputs, options: [[1]])
    with pytest.raises(Exception, match="already registered"):
        db.register_fixed_rule("One", 1, print)
    with pytest.raises(Exception, match="already registered"):
        db.register_fixed_rule("ReorderSort", 1, print)
    with pytest.raises(Exception, match="built in"):
        db.unregister_fixed_rule("ReorderSort")
    assert db.unregister_fixed_rule("One") is True
    assert db.unregister_fixed_rule("One") is False
    with pytest.raises(Exception) as raised:
        run("?[x] <~ One()")
    assert raised.value.args[0]["code"] == "parser::fixed_rule_not_found"


def test_a_rule_may_run_scripts(db, run):
    run("?[x] <- [[1], [2]] :create r {x}")
    db.register_fixed_rule("Nested", 1, lambda inputs, options: run("?[x] := *r[x]"))
    for _ in range(3):
        assert run("?[count(x)] := y[x]  y[x] <~ Nested()") == [[2]]


def test_rules_of_several_threads(db):
    db.register_fixed_rule("Double", 1, lambda inputs, options: [[2 * x] for [x] in inputs[0]])
    results = {}

    def work(n):
        script = "r[x] <- [[$n]] ?[y] <~ Double(r[])"
        results[n] = [db.run_script(script, {"n": n}, True)["rows"] for _ in range(20)]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == {n: [[[2 * n]]] * 20 for n in range(4)}


def test_rules_through_the_client():
    client = pytest.importorskip("pycozo.client").Client("mem", dataframe=False)
    client.register_fixed_rule("Sum", 1, lambda inputs, options: [[sum(row[0] for row in inputs[0])]])
    assert client.run("r[x] <- [[1], [2], [4]]  ?[total] <~ Sum(r[])")["rows"] == [[7]]
    assert client.unregister_fixed_rule("Sum") is True
    client.close()
