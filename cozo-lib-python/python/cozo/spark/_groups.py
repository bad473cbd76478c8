"""Aggregations: by Spark where it counts the same, and otherwise by the native module on rows that Spark has sorted
by group."""

from __future__ import annotations

import json
from typing import Any, Iterable, Iterator, List, Mapping, Optional, Sequence

from ._errors import task_errors
from ._rows import schema_of, spark_batches
from ._shapes import Shape

Used = Optional[Mapping[str, Any]]
"""The aggregation of a column; None for a grouping column."""


class Grouping:
    """The function of a task that aggregates the rows of a partition."""

    def __init__(self, text: str, columns: List[tuple]) -> None:
        self.text, self.columns = text, columns

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow
        from cozo_embedded import PortableGroups

        with task_errors():
            groups = PortableGroups(self.text)
            for batch in batches:
                complete = groups.take(pyarrow.Table.from_batches([batch]))
                if complete is not None:
                    yield from spark_batches(complete, self.columns)
            yield from spark_batches(groups.finish(), self.columns)


def grouped(
    frame: Any,
    shapes: Sequence[Shape],
    columns: Sequence[Used],
    results: Sequence[Shape],
    partitions: Optional[int] = None,
) -> Any:
    """The groups of the rows of a frame with the columns `c0`, `c1`, ...; these are the columns of the groups,
    too."""
    keys = [f"c{at}" for at, used in enumerate(columns) if used is None]
    natively = [
        native(f"c{at}", used, shapes[at], results[at]) for at, used in enumerate(columns) if used is not None
    ]
    if all(column is not None for column in natively):
        names = [f"c{at}" for at in range(len(columns))]
        return frame.groupBy(*keys).agg(*natively).select(*names)
    text = json.dumps({"columns": [described(*column) for column in zip(columns, shapes, results)]})
    given = [(f"c{at}", shape.encoding) for at, shape in enumerate(results)]
    if not keys:
        return one_group(frame, text, given)
    # The other columns are sorted, too, so that sums of floats do not depend on the order in which rows arrive.
    others = [name for name in frame.columns if name not in keys]
    rows = frame.repartition(*keys) if partitions is None else frame.repartition(partitions, *keys)
    found = of_partitions(rows.sortWithinPartitions(*keys, *others), text, given)
    # Spark does not know how the rows of a pass are parted.
    return found if partitions is None else found.repartition(partitions, *keys)


def of_partitions(frame: Any, text: str, given: List[tuple]) -> Any:
    return frame.mapInArrow(Grouping(text, given), schema_of(given))


def one_group(frame: Any, text: str, given: List[tuple]) -> Any:
    """The only group, which is there even if the frame has no rows, and no partitions."""
    from pyspark.sql import functions as F

    session = frame.sparkSession
    rows = of_partitions(frame.coalesce(1).sortWithinPartitions(*frame.columns), text, given)
    nothing = session.range(1).select(F.lit(1).alias("other"))
    ranked = rows.withColumn("other", F.lit(0)).unionByName(empty_group(nothing, text, given))
    return ranked.orderBy("other").limit(1).drop("other")


def empty_group(nothing: Any, text: str, given: List[tuple]) -> Any:
    """The group of no rows, with a mark by which it comes last."""
    columns = [*given, ("other", "Int")]
    return nothing.mapInArrow(EmptyGroup(text, given), schema_of(columns))


class EmptyGroup:
    """The function of a task that gives the group of no rows."""

    def __init__(self, text: str, columns: List[tuple]) -> None:
        self.text, self.columns = text, columns

    def __call__(self, batches: Iterable[Any]) -> Iterator[Any]:
        import pyarrow
        from cozo_embedded import PortableGroups

        for batch in batches:
            if batch.num_rows:
                for group in spark_batches(PortableGroups(self.text).finish(), self.columns):
                    yield group.append_column("other", pyarrow.array([1], pyarrow.int64()))


def described(used: Used, shape: Shape, result: Shape) -> Mapping[str, Any]:
    """A column as the native module takes it."""
    column = {"encoding": shape.encoding, "result": result.encoding}
    return column if used is None else {**column, "aggregation": used["aggregation"], "arguments": used["arguments"]}


def native(name: str, used: Mapping[str, Any], shape: Shape, result: Shape) -> Optional[Any]:
    """The aggregation as one of Spark; None if Spark's has another result."""
    from pyspark.sql import functions as F

    if used["arguments"]:
        return None
    if used["aggregation"] == "count":
        return F.count(F.lit(1)).alias(name)
    if used["aggregation"] == "count_unique":
        return F.count_distinct(F.col(name)).alias(name)
    if used["aggregation"] in ("min", "max") and shape.encoding == result.encoding == "Int":
        return (F.min if used["aggregation"] == "min" else F.max)(name).alias(name)
    return None
