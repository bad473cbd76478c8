"""Writes: a whole new version of a table.

There are no transactions on Spark. The new version is written beside the old one, and takes its place when it is
complete; two runs that write the same table at once leave the version of one of them.

| table at `target` | old and new version | how the new one takes its place |
|---|---|---|
| Delta | versions of the table | a commit of Delta |
| Parquet, a local folder or one of Hadoop | folders beside each other | two renames: for a moment there is no folder |
"""

from __future__ import annotations

import os
import uuid
from typing import Any, Mapping, Optional, Sequence

from ._answer import Answer, presented
from ._errors import refused, unsupported
from ._relations import Table
from ._rows import Outgoing, passed
from ._shapes import Shape, of_declared, of_expression


def write(program: Any, table: Optional[Table], target: Optional[str]) -> Answer:
    """Writes the rows of a query by its `:put`, `:create` or `:replace`; gives the new version."""
    plan = program.plan["write"]
    op, relation = plan["op"], plan["relation"]
    if target is None:
        raise refused(
            "no_target", f"':{op} {relation['name']}' needs a place", "pass the path of the table as 'target'"
        )
    if program.plan["options"]["returning"]:
        raise unsupported("':returning'", "compare the old version with the new one")
    is_there = exists(program.spark, target)
    if op == "create" and is_there:
        raise refused(
            "target_exists",
            f"':create {relation['name']}' finds a table at {target}",
            "':replace' makes it anew, ':put' adds to it",
        )
    columns = relation["keys"] + relation["values"]
    shapes = tuple(of_declared(column["type"]) for column in columns)
    rows = converted(program, table, plan["sources"], columns, shapes)
    if op == "put":
        rows = merged(program, relation, rows)
    headers = [column["name"] for column in columns]
    frame = presented(rows, headers)
    replace(program.spark, frame, target)
    return Answer(program, rows, headers, False)


def converted(
    program: Any,
    table: Optional[Table],
    sources: Sequence[Mapping[str, Any]],
    columns: Sequence[Mapping[str, Any]],
    shapes: Sequence[Shape],
) -> Table:
    """The rows with the columns of the relation, in their types."""
    if table is None:
        return Table(program.nothing(shapes), tuple(shapes))
    slots = {at: shape for at, shape in enumerate(table.shapes)}
    first, operators, outputs = len(slots), [], []
    for at, (source, column, shape) in enumerate(zip(sources, columns, shapes)):
        value = {"slot": source["output"]} if "output" in source else source.get("default", NULL)
        operators.append({"op": "assign", "slot": first + at, "value": value})
        operators.append({"op": "coerce", "slot": first + at, "type": column["type"]})
        outputs.append(Outgoing(f"c{at}", first + at, shape.encoding))
        of_expression(value, slots)
    inputs = [(at, shape.encoding) for at, shape in enumerate(table.shapes)]
    return Table(program.keep(passed(table.frame, inputs, operators, outputs)), tuple(shapes))


NULL = {"constant": {"type": "Null", "value": None, "encoded": "AQ=="}}
"""The value null in a plan."""


def merged(program: Any, relation: Mapping[str, Any], rows: Table) -> Table:
    """The rows, and those of the relation with other keys."""
    name = relation["name"]
    if name not in program.stored_relations:
        raise refused(
            "no_relation",
            f"':put {name}' needs the rows that are there",
            f"pass the relation {name!r} in 'relations'",
        )
    keys = [f"c{at}" for at in range(len(relation["keys"]))]
    old = program.relation(name, False)
    others = old.frame.join(rows.frame.select(*keys).distinct(), keys, "left_anti").select(*rows.frame.columns)
    return Table(program.keep(others.unionAll(rows.frame)), rows.shapes)


def replace(spark: Any, frame: Any, target: str) -> None:
    """Writes a new version of a table, and puts it in the place of the old one."""
    if is_delta(target):
        frame.write.format("delta").mode("overwrite").save(target)
        return
    mark = uuid.uuid4().hex
    new, old = f"{target.rstrip('/')}.new-{mark}", f"{target.rstrip('/')}.old-{mark}"
    files = Files(spark, target)
    try:
        frame.write.parquet(new)
        if files.exists(target):
            files.rename(target, old)
        files.rename(new, target)
    except BaseException:
        files.remove(new)
        raise
    files.remove(old)


def exists(spark: Any, target: str) -> bool:
    return Files(spark, target).exists(target)


def is_delta(target: str) -> bool:
    return os.path.isdir(os.path.join(target, "_delta_log"))


class Files:
    """The file system of a path: that of this machine, or one of Hadoop."""

    def __init__(self, spark: Any, path: str) -> None:
        context = getattr(spark, "_jvm", None)
        if context is None:
            raise unsupported("a write over Spark Connect", "write the answer with 'answer.write'")
        self.jvm = spark._jvm
        self.system = self.jvm.org.apache.hadoop.fs.Path(path).getFileSystem(spark._jsc.hadoopConfiguration())

    def exists(self, path: str) -> bool:
        return self.system.exists(self._path(path))

    def rename(self, path: str, to: str) -> None:
        if not self.system.rename(self._path(path), self._path(to)):
            raise refused(
                "not_renamed", f"{path} could not be renamed to {to}", "see whether another run writes the same table"
            )

    def remove(self, path: str) -> None:
        self.system.delete(self._path(path), True)

    def _path(self, path: str) -> Any:
        return self.jvm.org.apache.hadoop.fs.Path(path)
