"""The inputs of algorithms as frames: edges `f`, `t` and perhaps a weight `w`, and nodes `n`; and their options."""

from __future__ import annotations

import json
from typing import Any, List, Mapping

from ._errors import MARK, refused
from ._relations import Table
from ._rows import Outgoing, passed
from ._shapes import Shape


class Call:
    """A fixed rule of a plan with its inputs."""

    def __init__(self, program: Any, fixed: Mapping[str, Any]) -> None:
        self.program, self.fixed = program, fixed
        self.node: Shape = program.shapes.tables[fixed["table"]][0]
        """The shape of a node."""
        self.rounds: List[Any] = []

    @property
    def spark(self) -> Any:
        return self.program.spark

    def option(self, name: str, default: Any, kind: type) -> Any:
        """The value of an option, of the type of its default."""
        given = self.fixed["options"].get(name)
        if given is None:
            return default
        value = given.get("constant", {}).get("value")
        is_float = kind is float and type(value) in (int, float)
        if type(value) is not kind and not is_float:
            message = f"the option '{name}' of '{self.fixed['rule']}' needs a constant of another type"
            raise refused("option", message, f"its default is {default!r}")
        return kind(value)

    def count(self, name: str, default: int) -> int:
        """The value of an option that counts something."""
        value = self.option(name, default, int)
        if value < 1:
            raise refused(
                "option", f"the option '{name}' of '{self.fixed['rule']}' needs an integer of at least 1", ""
            )
        return value

    def share(self, name: str, default: float) -> float:
        """The value of an option between 0 and 1."""
        value = self.option(name, default, float)
        if not 0 <= value <= 1:
            raise refused("option", f"the option '{name}' of '{self.fixed['rule']}' needs a number from 0 to 1", "")
        return value

    def has_input(self, number: int) -> bool:
        return number < len(self.fixed["inputs"])

    def _input(self, number: int) -> Table:
        return self.program.read(self.fixed["inputs"][number]["source"], None, True)

    def edges(self, weighted: bool = False) -> Any:
        """The edges: `f`, `t`, and `w`, a `double` that is 1 where the input has no third column."""
        from pyspark.sql import functions as F

        table = self._input(0)
        if len(table.shapes) < 2:
            raise refused(
                "edges", f"the edges of '{self.fixed['rule']}' need two columns", "give a relation of pairs"
            )
        outputs = [Outgoing("f", 0, self.node.encoding), Outgoing("t", 1, self.node.encoding)]
        has_weights = weighted and len(table.shapes) > 2
        if has_weights:
            outputs.append(Outgoing("w", 2, "Native", "Float"))
        frame = self._columns(table, outputs)
        if not has_weights:
            return frame.select("f", "t", F.lit(1.0).alias("w"))
        text = MARK + json.dumps(
            {"code": "algo::invalid_edge_weight", "message": "a weight is not a finite number of at least 0"}
        )
        is_valid = F.col("w").isNotNull() & (F.col("w") >= 0) & (F.col("w") < float("inf"))
        return frame.withColumn(
            "w", F.when(is_valid, F.col("w")).otherwise(F.raise_error(F.lit(text)).cast("double"))
        )

    def nodes(self, number: int) -> Any:
        """The different nodes of an input: `n`."""
        return self._columns(self._input(number), [Outgoing("n", 0, self.node.encoding)]).distinct()

    def _columns(self, table: Table, outputs: List[Outgoing]) -> Any:
        from pyspark.sql import functions as F

        if all(table.shapes[out.slot].encoding == out.encoding for out in outputs):
            return table.frame.select(*[F.col(f"c{out.slot}").alias(out.name) for out in outputs])
        inputs = [(at, shape.encoding) for at, shape in enumerate(table.shapes)]
        return passed(table.frame, inputs, [], outputs)

    def keep(self, frame: Any) -> Any:
        return self.program.keep(frame)

    def report(self, number: int, rows: int) -> None:
        """Tells the caller about a round."""
        if self.program.settings.on_round is not None:
            self.program.settings.on_round(number, {self.fixed["rule"]: rows})

    def cut(self, frame: Any) -> Any:
        """The frame of a round, stored without its lineage. That of the last but one round is dropped."""
        after = self.program.stored(frame, [])
        self.rounds.append(after)
        self.program.drop(self.rounds[:-2])
        self.rounds = self.rounds[-2:]
        return after


def both_ways(edges: Any) -> Any:
    """The edges and their reverses."""
    from pyspark.sql import functions as F

    return edges.unionAll(edges.select(F.col("t").alias("f"), F.col("f").alias("t"), "w"))


def ends(edges: Any) -> Any:
    """The different nodes of edges: `n`."""
    return edges.selectExpr("f as n").unionAll(edges.selectExpr("t as n")).distinct()
