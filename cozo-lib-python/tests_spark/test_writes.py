"""`:create`, `:put` and `:replace` write new versions of tables."""

import os

import cozo
import cozo.spark
import pytest


@pytest.fixture
def relation(spark):
    return cozo.spark.Relation(
        spark.createDataFrame([(1, 0.5), (2, 1.5)], "k bigint, v double"), "{k: Int => v: Float}"
    )


def rows(spark, path):
    return sorted(tuple(row) for row in spark.read.parquet(path).collect())


def test_create_makes_a_table(spark, relation, tmp_path):
    target = str(tmp_path / "t")
    script = "?[k, v, s] := *r[k, w], v = w * 2, s = 'x' :create t {k: Int => v: Float, s: String, d: Int default 7}"
    answer = cozo.spark.run(spark, script, {"r": relation}, target=target)
    assert answer.rows() == [(1, 1.0, "x", 7), (2, 3.0, "x", 7)]
    assert rows(spark, target) == answer.rows()
    with pytest.raises(cozo.Error) as raised:
        cozo.spark.run(spark, script, {"r": relation}, target=target)
    assert raised.value.code == "spark::target_exists"


def test_put_replaces_rows_of_the_same_keys(spark, relation, tmp_path):
    target = str(tmp_path / "r")
    relation.data.write.parquet(target)
    stored = cozo.spark.Relation(target, "{k: Int => v: Float}")
    cozo.spark.run(spark, "?[k, v] <- [[2, 9], [3, 4]] :put r {k => v}", {"r": stored}, target=target)
    assert rows(spark, target) == [(1, 0.5), (2, 9.0), (3, 4.0)]
    assert sorted(os.listdir(tmp_path)) == ["r"], "no other version is left"


def test_replace_leaves_only_the_new_rows(spark, relation, tmp_path):
    target = str(tmp_path / "r")
    relation.data.write.parquet(target)
    cozo.spark.run(spark, "?[k] <- [[5]] :replace r {k: Int}", {}, target=target)
    assert rows(spark, target) == [(5,)]


def test_a_failed_write_leaves_the_old_version(spark, relation, tmp_path):
    target = str(tmp_path / "r")
    relation.data.write.parquet(target)
    before = rows(spark, target)
    with pytest.raises(cozo.Error):
        cozo.spark.run(
            spark,
            "?[k, v] := k in [1, 2], v = 1 / (k - 'a') :put r {k => v}",
            {"r": cozo.spark.Relation(target, "{k: Int => v: Float}")},
            target=target,
        )
    with pytest.raises(cozo.Error):
        cozo.spark.run(
            spark,
            "?[k, v] <- [['a', 1]] :put r {k => v}",
            {"r": cozo.spark.Relation(target, "{k: Int => v: Float}")},
            target=target,
        )
    assert rows(spark, target) == before
    assert sorted(os.listdir(tmp_path)) == ["r"]


def test_a_write_needs_a_place(spark, relation):
    with pytest.raises(cozo.Error) as raised:
        cozo.spark.run(spark, "?[k] := *r{k} :create t {k}", {"r": relation})
    assert raised.value.code == "spark::no_target"
