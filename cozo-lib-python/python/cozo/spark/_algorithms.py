"""Algorithms as rounds of joins. Their results are those that `docs/algorithms.md` describes; sums of floats may
differ in the last digits, since the rows come in another order.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Mapping

from ._errors import refused, unsupported
from ._graph import Call, both_ways, ends
from ._rows import Outgoing, passed


def run_fixed(program: Any, fixed: Mapping[str, Any]) -> Any:
    """The rows of a fixed rule as `c0`, `c1`, ..."""
    rule = RULES.get(fixed["rule"])
    if rule is None:
        raise unsupported(f"the fixed rule '{fixed['rule']}'", "run it in a database")
    frame = rule(Call(program, fixed))
    shapes = program.shapes.tables[fixed["table"]]
    kinds = [kind for _, kind in frame.dtypes]
    frame = frame.toDF(*[f"c{at}" for at in range(len(shapes))])
    if "double" in kinds:
        inputs = [(at, "Native" if kinds[at] == "double" else shape.encoding) for at, shape in enumerate(shapes)]
        frame = passed(frame, inputs, [], [Outgoing(f"c{at}", at, shape.encoding) for at, shape in enumerate(shapes)])
    return program.keep(frame)


def all_nodes(call: Call, edges: Any) -> Any:
    """The nodes of edges and of the second input, if there is one: `n`, and whether they have no edges, `alone`."""
    from pyspark.sql import functions as F

    nodes = ends(edges).withColumn("alone", F.lit(False))
    if not call.has_input(1):
        return nodes
    others = call.nodes(1).join(nodes, "n", "left_anti").withColumn("alone", F.lit(True))
    return nodes.unionByName(others)


def page_rank(call: Call) -> Any:
    """Each round uses the scores of the round before, as a database does with `epsilon: 0`."""
    from pyspark.sql import functions as F

    theta = call.share("theta", 0.85)
    rounds, dangling = call.count("iterations", 10), call.option("dangling", "ignore", str)
    if dangling not in ("ignore", "redistribute"):
        raise refused("option", "the option 'dangling' of 'PageRank' is wrong", "give 'ignore' or 'redistribute'")
    edges = call.edges(call.option("weighted", False, bool))
    nodes = call.keep(all_nodes(call, edges).select("n"))
    edges = both_ways(edges) if call.option("undirected", False, bool) else edges
    leaving = edges.groupBy("f").agg(F.sum("w").alias("leaving")).where("leaving > 0")
    shares = call.keep(edges.join(leaving, "f").select("f", "t", (F.col("w") / F.col("leaving")).alias("share")))
    count = nodes.count()
    scores = call.keep(nodes.withColumn("s", F.lit(1.0 / max(count, 1))))
    for number in range(1, rounds + 1 if count else 1):
        spread = (1.0 - theta) / count
        if dangling == "redistribute":
            lost = scores.join(leaving, scores["n"] == leaving["f"], "left_anti").agg(F.sum("s")).first()[0]
            spread += theta * (lost or 0.0) / count
        passed = (
            scores.join(shares, scores["n"] == shares["f"])
            .groupBy("t")
            .agg(F.sum(F.col("s") * F.col("share")).alias("p"))
        )
        joined = scores.join(passed, scores["n"] == passed["t"], "left")
        after = joined.select(
            "n", (F.lit(spread) + theta * F.coalesce("p", F.lit(0.0))).alias("a"), F.col("s").alias("before")
        )
        after = call.cut(after)
        scores = after.select("n", F.col("a").alias("s"))
        call.report(number, count)
    return scores


def connected_components(call: Call) -> Any:
    """Labels of neighbours and labels of labels, until each node has the smallest node of its component."""
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    edges = call.edges()
    nodes = call.keep(all_nodes(call, edges))
    both = call.keep(both_ways(edges).where("f != t").select("f", "t").distinct())
    labels = call.keep(nodes.select("n", F.col("n").alias("label"), "alone"))
    number = 0
    while True:
        number += 1
        near = both.join(labels, both["f"] == labels["n"]).groupBy("t").agg(F.min("label").alias("near"))
        least = labels.join(near, labels["n"] == near["t"], "left").select(
            "n", F.least("label", F.coalesce("near", "label")).alias("label"), "alone", F.col("label").alias("before")
        )
        jumps = least.select(F.col("n").alias("m"), F.col("label").alias("further"))
        after = least.join(jumps, least["label"] == jumps["m"]).select(
            "n", F.col("further").alias("label"), "alone", "before"
        )
        after = call.cut(after)
        changed = after.where("label != before").count()
        labels = after.select("n", "label", "alone")
        call.report(number, changed)
        if not changed:
            break
    order = Window.orderBy("alone", "label")
    numbers = labels.select("label", "alone").distinct()
    numbers = numbers.select("label", (F.row_number().over(order) - 1).cast("bigint").alias("number"))
    return labels.join(numbers, "label").select("n", "number")


def sssp(call: Call) -> Any:
    """Costs improve along edges until none does (Bellman and Ford)."""
    from pyspark.sql import functions as F

    edges = call.edges(weighted=True)
    edges = both_ways(edges) if call.option("undirected", False, bool) else edges
    edges = call.keep(edges.groupBy("f", "t").agg(F.min("w").alias("w")))
    nodes = call.keep(ends(edges))
    starts = call.keep(call.nodes(1).join(nodes, "n"))
    known = call.keep(starts.select(F.col("n").alias("start"), "n", F.lit(0.0).alias("cost")))
    delta, number = known, 0
    while True:
        number += 1
        reached = delta.join(edges, delta["n"] == edges["f"]).select(
            "start", F.col("t").alias("n"), (F.col("cost") + F.col("w")).alias("cost")
        )
        best = known.unionByName(reached).groupBy("start", "n").agg(F.min("cost").alias("cost"))
        best = call.cut(best)
        before = known.withColumnRenamed("cost", "before")
        improved = best.join(before, ["start", "n"], "left").where("before is null or cost < before")
        delta = call.keep(improved.select("start", "n", "cost"))
        rows, known = delta.count(), best
        call.report(number, rows)
        if not rows:
            break
    pairs = starts.select(F.col("n").alias("start")).crossJoin(nodes)
    return pairs.join(known, ["start", "n"], "left").select(
        "start", "n", F.coalesce("cost", F.lit(float("inf"))).alias("cost")
    )


def cdlp(call: Call) -> Any:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    edges = call.edges()
    nodes = call.keep(ends(edges))
    both = both_ways(edges).select("f", "t")
    if call.option("undirected", False, bool):
        both = both.where("f != t").distinct()
    both = call.keep(both)
    labels = nodes.select("n", F.col("n").alias("label"))
    best = Window.partitionBy("f").orderBy(F.col("times").desc(), F.col("label").asc())
    for number in range(1, call.count("iterations", 10) + 1):
        times = (
            both.join(labels, both["t"] == labels["n"]).groupBy("f", "label").agg(F.count(F.lit(1)).alias("times"))
        )
        found = (
            times.withColumn("rank", F.row_number().over(best))
            .where("rank = 1")
            .select("f", F.col("label").alias("most"))
        )
        after = labels.join(found, labels["n"] == found["f"], "left")
        after = call.cut(after.select("n", F.coalesce("most", "label").alias("a"), F.col("label").alias("before")))
        changed = after.where("a != before").count()
        labels = after.select("n", F.col("a").alias("label"))
        call.report(number, changed)
        if not changed:
            break
    return labels


def degree_centrality(call: Call) -> Any:
    from pyspark.sql import functions as F

    edges = call.edges()
    nodes = all_nodes(call, edges).select("n")
    leaving = edges.groupBy("f").agg(F.count(F.lit(1)).alias("o"))
    reaching = edges.groupBy("t").agg(F.count(F.lit(1)).alias("i"))
    joined = nodes.join(leaving, nodes["n"] == leaving["f"], "left").join(
        reaching, nodes["n"] == reaching["t"], "left"
    )
    out, into = F.coalesce("o", F.lit(0)).cast("bigint"), F.coalesce("i", F.lit(0)).cast("bigint")
    return joined.select("n", (out + into).alias("total"), out.alias("out"), into.alias("in"))


def corners(edges: Any) -> Any:
    """For each triangle its nodes `a` < `b` < `c`; and for each pair of neighbours `low` < `high` the number of
    edges in either direction, `times`, and of directions, `ways`.
    """
    from pyspark.sql import functions as F

    pairs = edges.where("f != t").select(
        F.least("f", "t").alias("low"), F.greatest("f", "t").alias("high"), (F.col("f") < F.col("t")).alias("up")
    )
    pairs = pairs.groupBy("low", "high").agg(F.count(F.lit(1)).alias("times"), F.count_distinct("up").alias("ways"))

    def side(first: str, second: str, name: str) -> Any:
        return pairs.toDF(first, second, f"times_{name}", f"ways_{name}")

    found = side("a", "b", "ab").join(side("b", "c", "bc"), "b").join(side("a", "c", "ac"), ["a", "c"])
    return pairs, found


def lcc(call: Call) -> Any:
    from pyspark.sql import functions as F

    is_undirected = call.option("undirected", False, bool)
    edges = call.keep(call.edges().select("f", "t", "w"))
    pairs, found = corners(edges)
    neighbours = (
        pairs.selectExpr("low as n")
        .unionAll(pairs.selectExpr("high as n"))
        .groupBy("n")
        .agg(F.count(F.lit(1)).alias("d"))
    )
    opposite = [("a", "bc"), ("b", "ac"), ("c", "ab")]
    ways = [
        found.select(F.col(node).alias("n"), (F.lit(2) if is_undirected else F.col(f"ways_{side}")).alias("x"))
        for node, side in opposite
    ]
    joined = ways[0].unionAll(ways[1]).unionAll(ways[2]).groupBy("n").agg(F.sum("x").alias("joined"))
    rows = ends(edges).join(neighbours, "n", "left").join(joined, "n", "left")
    degree = F.coalesce("d", F.lit(0)).cast("double")
    share = F.coalesce("joined", F.lit(0)).cast("double") / (degree * (degree - 1.0))
    return rows.select("n", F.when(degree < 2.0, F.lit(0.0)).otherwise(share).alias("coefficient"))


def clustering_coefficients(call: Call) -> Any:
    from pyspark.sql import functions as F

    edges = call.keep(call.edges().select("f", "t", "w"))
    _, found = corners(edges)
    sides = {"a": ("ab", "ac"), "b": ("ab", "bc"), "c": ("ac", "bc")}
    counts = [
        found.select(F.col(node).alias("n"), (F.col(f"times_{x}") * F.col(f"times_{y}")).alias("x"))
        for node, (x, y) in sides.items()
    ]
    joined = counts[0].unionAll(counts[1]).unionAll(counts[2]).groupBy("n").agg(F.sum("x").alias("joined"))
    degrees = both_ways(edges).groupBy(F.col("f").alias("n")).agg(F.count(F.lit(1)).alias("d"))
    loops = edges.where("f = t").groupBy(F.col("f").alias("n")).agg((F.count(F.lit(1)) * 2).alias("l"))
    rows = degrees.join(joined, "n", "left").join(loops, "n", "left")
    around = F.coalesce("l", F.lit(0))
    triangles = (F.coalesce("joined", F.lit(0)) + around * (F.col("d") - around)).cast("bigint")
    degree = F.col("d").cast("double")
    share = 2.0 * triangles.cast("double") / (degree * (degree - 1.0))
    return rows.select(
        "n",
        F.when(degree < 2.0, F.lit(0.0)).otherwise(share).alias("coefficient"),
        triangles.alias("triangles"),
        F.col("d"),
    )


RULES: Dict[str, Callable[[Call], Any]] = {
    "CDLP": cdlp,
    "ClusteringCoefficients": clustering_coefficients,
    "ConnectedComponents": connected_components,
    "DegreeCentrality": degree_centrality,
    "LCC": lcc,
    "PageRank": page_rank,
    "SSSP": sssp,
    "WCC": connected_components,
}
