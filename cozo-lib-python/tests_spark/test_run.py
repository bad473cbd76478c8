"""Scripts on Spark give what a database gives."""

import datetime
import math

import cozo
import cozo.spark
import pytest
from comparison import check, on_spark, relations_of

SETUP = [
    "?[a, b] <- [[1, 2], [2, 3], [3, 4], [4, 2], [7, 8], [8, 8]] :create e {a: Int, b: Int}",
    "?[a, b, w] <- [[1, 2, 4], [1, 3, 1.5], [3, 2, 1], [2, 9, 7]] :create w {a: Int, b: Int => w: Float}",
    """?[k, v] <- [[1, 'x'], [2.5, null], ['s', [1, 2]], [1.0, true], [null, {'a': 1}], [-0.0, 'é'], [0.0, 'z'], [true, 0]]
       :create m {k => v}""",
    "?[n, s] <- [[1, 'Ann'], [2, null], [3, 'b\\u0000c'], [4, '𝄞'], [5, '\\uffff']] :create p {n: Int => s: String?}",
]


@pytest.fixture
def filled(db):
    for script in SETUP:
        db.run(script)
    return db


RULES = [
    "?[x, y] := *e[x, y]",
    "?[k, v] := *m[k, v]",
    "?[n, s] := *p[n, s]",
    "?[x, z] := *e[x, y], *e[y, z]",
    "?[x, z] := *e[x, y], *e[y, z], x < z, x != 2",
    "?[x] := *e[x, x]",
    "?[y] := *e[2, y]",
    "?[v] := *m[1, v]",
    "?[v] := *m[1.0, v]",
    "?[v] := *m['s', v]",
    "?[k, a] := *m[k, _], *e[a, _], a == k",
    "?[k, v] := *m[k, v], *e[k, _]",
    "?[k] := *m[k, _], not *e[k, _]",
    "?[x] := *e[x, _], not *e[_, x]",
    "?[x] := *e[x, _], not *p[_, 'nobody']",
    "?[x] := *e[x, _], not *p[_, 'Ann']",
    "?[x, y] := *e[x, _], *e[_, y], x + y == 7",
    "?[x] := *e[x, _] or *p[x, _]",
    "?[x, y] := x in [1, 2.5, 'a', null], y = to_string(x)",
    "?[x, y] := *p[x, s], y = if(is_null(s), 'none', lowercase(s))",
    "?[x, c] := *e[x, y], c = x * y - 1, c % 2 == 1",
    "?[x, c] := *e[x, y], c = x / y",
    "?[x] := *p[x, s], !is_null(s), s > 'a'",
    "?[x] := x = 1",
    "?[] <- [[1, 'a'], [1.0, null]]",
    "a[x] := *e[x, _]  b[x] := *e[_, x]  ?[x] := a[x], b[x]",
]
AGGREGATIONS = [
    "?[count(y)] := *e[x, y]",
    "?[x, count(y)] := *e[x, y]",
    "?[count(x)] := *e[x, y], *e[y, z]",
    "?[count(y), max(y), sum(y)] := *e[100, y]",
    "?[x, count(y)] := *e[100, y], x = y",
    "?[sum(w), mean(w), min(w), max(w), count_unique(w)] := *w[_, _, w]",
    "?[x, sum(y), int_sum(y), variance(y)] := *e[x, y]",
    "?[min(s), max(s), count(s), count_unique(s)] := *p[_, s]",
    "?[unique(k)] := *m[k, _]",
    "?[t, union(l)] := *e[x, y], l = [x, y], t = x % 2",
    "?[x, group_count(y), mode(y), median(y)] := *e[x, y]",
    "?[and(t), or(t)] := *e[x, y], t = x < y",
    "c[x, count(y)] := *e[x, y]  ?[n, count(x)] := c[x, n]",
    "m[x] := *e[a, b], x = 1  ?[count(x)] := m[x]",
]
RECURSION = [
    "path[x, y] := *e[x, y]  path[x, y] := path[x, z], *e[z, y]  ?[x, y] := path[x, y]",
    "path[x, y] := *e[x, y]  path[x, y] := path[x, z], path[z, y]  ?[x, y] := path[x, y]",
    "path[x, y] := *e[x, y]  path[x, y] := path[x, z], *e[z, y]  ?[y] := path[1, y]",
    "odd[x, y] := *e[x, y]  odd[x, y] := even[x, z], *e[z, y]  even[x, y] := odd[x, z], *e[z, y]  ?[x, y] := even[x, y]",
    "d[x, min(c)] := x = 1, c = 0  d[y, min(c)] := d[x, b], *e[x, y], c = b + 1  ?[x, c] := d[x, c]",
    "d[x, min(c)] := x = 1, c = 0  d[y, min(c)] := d[x, b], *w[x, y, w], c = b + w  ?[x, c] := d[x, c]",
    "r[x, union(l)] := *e[x, y], l = [y]  r[x, union(l)] := *e[x, y], r[y, l]  ?[x, l] := r[x, l]",
    "f[a] <- []  r[intersection(w)] := f[w]  r[intersection(w)] := r[v], w = [1]  ?[w] := r[w]",
    "n[x] := x = 0  n[y] := n[x], x < 20, y = x + 1  ?[x] := n[x]",
    "sg[x, y] := *e[p, x], *e[p, y]  sg[x, y] := *e[p, x], sg[p, q], *e[q, y]  ?[x, y] := sg[x, y]",
    "path[x, y] := *e[x, y]  path[x, y] := path[x, z], *e[z, y]  ?[x] := *e[x, _], not path[x, x]",
]
ALGORITHMS = [
    "?[n, s] <~ PageRank(*e[], epsilon: 0)",
    "?[n, s] <~ PageRank(*w[], epsilon: 0, weighted: true, theta: 0.5, iterations: 3, undirected: true)",
    "n[x] <- [[50]]  ?[n, s] <~ PageRank(*e[], n[], dangling: 'redistribute', epsilon: 0)",
    "?[n, c] <~ ConnectedComponents(*e[])",
    "n[x] <- [[50], [0], [1]]  ?[n, c] <~ WCC(*e[], n[])",
    "s[] <- [[1], [7], [77]]  ?[s, n, c] <~ SSSP(*w[], s[])",
    "s[] <- [[9]]  ?[s, n, c] <~ SSSP(*w[], s[], undirected: true)",
    "?[n, l] <~ CDLP(*e[])",
    "?[n, l] <~ CDLP(*e[], undirected: true, iterations: 2)",
    "?[n, t, o, i] <~ DegreeCentrality(*e[])",
    "g[a, b] := *e[a, b] or *e[b, a] or a in [2], b in [4]  ?[n, c] <~ LCC(g[])",
    "g[a, b] := *e[a, b] or a in [2], b in [4]  ?[n, c] <~ LCC(g[], undirected: true)",
    "g[a, b] := *e[a, b] or a in [2, 4], b in [4, 3]  ?[n, c, t, d] <~ ClusteringCoefficients(g[])",
    "g[a, b] <- [['x', 1], [1, 2.5], [2.5, null]]  ?[n, c] <~ ConnectedComponents(g[])",
    "r[n, s] <~ PageRank(*e[], epsilon: 0)  ?[n] := r[n, s], s > 0.1",
]
OPTIONS = [
    "?[x, y] := *e[x, y] :order -y, x",
    "?[k, v] := *m[k, v] :order -k :limit 3 :offset 1",
    "?[x, y] := *e[x, y] :order x :limit 0",
    "?[x] := *e[x, _] :assert some :order x",
    "?[x] := *e[x, _], x > 100 :assert none",
    "?[s] := *p[_, s] :order s",
]


@pytest.mark.parametrize("script", RULES + AGGREGATIONS + RECURSION + OPTIONS)
def test_answers_are_those_of_a_database(spark, filled, script):
    check(spark, filled, script)


@pytest.mark.parametrize("script", ALGORITHMS)
def test_algorithms_give_what_a_database_gives(spark, filled, script):
    check(spark, filled, script, tolerance=1e-12)


def test_parameters_are_values_of_the_script(spark, filled):
    script = "?[y] := *e[$from, y], y in $allowed"
    assert check(spark, filled, script, {"from": 2, "allowed": [3, 5]}) == [(3,)]


def test_many_rounds_are_cut_every_few(spark, db):
    db.run("?[a, b] := a in int_range(40), b = a + 1 :create line {a: Int, b: Int}")
    seen = []
    script = "path[x, y] := *line[x, y]  path[x, y] := path[x, z], *line[z, y]  ?[y] := path[0, y]"
    check(
        spark,
        db,
        script,
        checkpoint_rounds=3,
        on_round=lambda number, added: seen.append((number, sum(added.values()))),
    )
    assert [number for number, _ in seen] == list(range(41)), "each round is told"
    assert seen[-1][1] == 0, "the last round adds nothing"
    script = "path[x, y] := *line[x, y]  path[x, y] := path[x, z], path[z, y]  ?[count(y)] := path[x, y]"
    assert check(spark, db, script, checkpoint_rounds=2) == [(820,)], "old rows are known after a cut, too"


def test_numbers_beyond_64_bits_are_errors(spark, db):
    db.run("?[a] <- [[9223372036854775807]] :create r {a: Int}")
    for script in ["?[b] := *r[a], b = a + 1", "?[b] := *r[a], b = a * 2", "?[b] := *r[a], b = -1 - a - 1 - a"]:
        with pytest.raises(cozo.Error) as raised:
            on_spark(spark, db, script)
        assert raised.value.code == "eval::throw", script


@pytest.mark.parametrize(
    "script, code",
    [
        ("?[b] := *m[k, v], b = k > 1", "eval::throw"),
        ("?[b] := *m[k, b], b", "eval::predicate_not_bool"),
        ("?[min(k)] := *m[k, v]", "eval::throw"),
        ("?[x] := *e[x, _] :assert none", "eval::assert_none_failure"),
        ("?[x] := *e[x, 77] :assert some", "eval::assert_some_failure"),
    ],
)
def test_errors_of_rows_are_errors_of_a_database(spark, filled, script, code):
    with pytest.raises(cozo.Error):
        filled.query(script)
    with pytest.raises(cozo.Error) as raised:
        on_spark(spark, filled, script)
    assert raised.value.code == code


@pytest.mark.parametrize(
    "script, said",
    [
        ("?[a, b, c] <~ ShortestPathBFS(*e[], *e[], *e[])", "ShortestPathBFS"),
        ("?[l, n] <~ LabelPropagation(*e[])", "CDLP"),
        ("?[n, s] <~ PageRank(*e[])", "epsilon: 0"),
        ("?[l, n] <~ CommunityDetectionLouvain(*e[])", "to_cozo"),
        ("?[collect(x)] := *e[x, _]", "collect"),
        ("?[x, r] := *e[x, _], r = rand_float()", "rand_float"),
        ("?[a, b] := *e[a, b] :rm e {a, b}", ":rm"),
    ],
)
def test_what_does_not_run_is_refused_before_anything_starts(spark, filled, script, said):
    read = []
    relations = {"e": cozo.spark.Relation(counted(spark, read), "{a: Int, b: Int}")}
    with pytest.raises(cozo.Error) as raised:
        cozo.spark.run(spark, script, relations)
    assert raised.value.code == "spark::unsupported"
    assert said in str(raised.value)
    assert not read


def counted(spark, read):
    """Edges that note when they are read, in this process."""
    frame = spark.createDataFrame([(1, 2)], "a bigint, b bigint")
    collect = frame.collect
    frame.collect = lambda: read.append(1) or collect()
    return frame


def test_wrong_scripts_are_errors_of_a_database(spark):
    with pytest.raises(cozo.Error) as raised:
        cozo.spark.run(spark, "?[x] := *nobody[x]")
    assert raised.value.code == "query::relation_not_found"


def test_frames_are_relations(spark):
    edges = spark.createDataFrame([(1, 2, 0.5), (1, 2, 0.5), (2, 3, None)], "a int, b bigint, w double")
    with cozo.spark.run(spark, "?[count(a), sum(w)] := *e{a, w}, !is_null(w)", {"e": edges}) as answer:
        assert answer.rows() == [(1, 0.5)], "rows that occur twice count once"
        assert answer.frame.dtypes == [("count(a)", "bigint"), ("sum(w)", "double")]
    with cozo.spark.run(
        spark, "?[b, w] := *e{a, b, w}", {"e": cozo.spark.Relation(edges, "{a: Int, b: Int => w: Float?}")}
    ) as answer:
        assert answer.collect() == [(2, 0.5), (3, None)] or sorted(answer.rows()) == [(2, 0.5), (3, None)]
    everything = [(True, "x", b"\x00", [1, 2], None)]
    frame = spark.createDataFrame(everything, "t boolean, s string, b binary, l array<bigint>, n string")
    with cozo.spark.run(
        spark,
        "?[t, s, b, l, n] := *r[t, s, b, l, n]",
        {"r": cozo.spark.Relation(frame, "{t: Bool, s: String, b: Bytes, l: Any, n: String?}")},
    ) as answer:
        assert answer.rows() == [(True, "x", b"\x00", [1, 2], None)]


def test_a_null_in_a_column_without_nulls_is_an_error(spark):
    frame = spark.createDataFrame([(1,), (None,)], "a bigint")
    with pytest.raises(cozo.Error) as raised:
        cozo.spark.run(spark, "?[a] := *r[a]", {"r": frame}).rows()
    assert raised.value.code == "spark::null"
    assert "Int?" in str(raised.value)


def test_columns_of_other_types_are_refused(spark):
    moments = spark.createDataFrame([(datetime.datetime(2026, 1, 1),)], "at timestamp")
    with pytest.raises(cozo.Error) as raised:
        cozo.spark.run(spark, "?[at] := *r[at]", {"r": moments})
    assert raised.value.code == "spark::column_type"
    for declared in ("{a: String}", "{b: Int}"):
        with pytest.raises(cozo.Error):
            cozo.spark.run(spark, "?[x] := *r[x]", {"r": cozo.spark.Relation(spark.range(3).toDF("a"), declared)})


def test_parquet_is_a_relation(spark, tmp_path):
    spark.range(10).toDF("n").write.parquet(str(tmp_path / "n"))
    with cozo.spark.run(spark, "?[max(n)] := *n[n]", {"n": str(tmp_path / "n")}) as answer:
        assert answer.rows() == [(9,)]


def test_columns_of_several_types_say_what_they_are(spark, filled):
    script = "?[k, v] := *m[k, v]"
    with cozo.spark.run(spark, script, relations_of(spark, filled)) as answer:
        assert dict(answer.dtypes) == {
            "k": "struct<json:string,ordered:binary>",
            "v": "struct<json:string,ordered:binary>",
        }
        ordered = [row.k.json for row in answer.frame.orderBy("k.ordered").collect()]
        assert ordered == ["null", "true", "-0.0", "0.0", "1", "1.0", "2.5", '"s"'], "bytes sort as values do"
        # What was an answer may be a relation again.
        again = cozo.spark.run(spark, "?[v] := *m[1.0, v]", {"m": answer.frame})
        assert again.rows() == [(True,)]


def test_answers_go_into_a_database(spark, filled):
    script = "?[n, s] := *p[n, s]"
    with cozo.spark.run(spark, script, relations_of(spark, filled)) as answer:
        answer.to_cozo(filled, "copy", key="n")
    assert filled["copy"].rows == filled["p"].rows
    assert [column.is_key for column in filled.columns("copy")] == [True, False]


def test_floats_that_are_no_numbers(spark, db):
    db.run("?[i, x] <- [[1, 0.0], [2, -0.0]] :create f {i: Int => x: Float}")
    script = "?[i, y] := *f[i, x], y = 1 / x"
    assert check(spark, db, script) == [(1, math.inf), (2, -math.inf)]
    check(spark, db, "?[x, count(i)] := *f[i, x]")
    check(spark, db, "?[a, b] := *f[a, x], *f[b, x]")
    check(spark, db, "?[i, y] := *f[i, x], y = x / x")


def test_explain_tells_the_stages(spark, filled):
    paths = "path[x, y] := *e[x, y]  path[x, y] := path[x, z], *e[z, y]  "
    script = paths + "?[x, count(n)] := path[x, y], *p[y, n], not *m[x, _], x % 2 == 1"
    text = cozo.spark.explain(script, relations_of(spark, filled))
    for part in [
        "rounds until nothing is new",
        "delta rows",
        "keep rows without a match in *m",
        "by the evaluator",
        "groups with count",
    ]:
        assert part in text, text


def test_a_run_that_fails_leaves_no_tables(spark, filled):
    script = "path[x, y] := *e[x, y]  path[x, y] := path[x, z], *e[z, y]  ?[x, y] := path[x, y]"

    def stop(number, added):
        raise KeyboardInterrupt

    relations = relations_of(spark, filled)
    before = len(spark.sparkContext._jsc.getPersistentRDDs())
    with pytest.raises(KeyboardInterrupt):
        cozo.spark.run(spark, script, relations, on_round=stop)
    assert len(spark.sparkContext._jsc.getPersistentRDDs()) == before
