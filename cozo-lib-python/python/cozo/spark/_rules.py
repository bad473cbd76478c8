"""A rule as a chain of frames: joins, semi- and anti-joins by Spark, and what lies between them by Spark or by the
evaluator."""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from ._expressions import column, literal, name
from ._relations import Table
from ._rows import Outgoing, passed
from ._shapes import ANYTHING, Shape, of_expression, of_values, only

Read = Callable[[Mapping[str, Any], Optional[str]], Table]
"""Gives the rows of a source, and of a growing table those of a part: `delta`, `old` or `known`."""

Parted = Callable[[Mapping[str, Any], Table, Sequence[str]], Any]
"""Gives the rows of a source that does not grow, parted by some columns once for all rounds."""

JOINS = ("join", "semi_join", "anti_join")

UNIT = "unit"
"""The column of a frame without slots, so that its rows can be counted."""

AS_BYTES = "as_bytes"
"""Marks an assignment whose value is to be known by its bytes, whatever its type."""

FREE_SLOT = 1 << 19
"""Slots from here on are for values that are computed before a join."""


def step(
    slots: Dict[int, Shape], operator: Mapping[str, Any], source: Callable[[Mapping[str, Any]], Sequence[Shape]]
) -> None:
    """Adds the shapes of the slots that an operator fills."""
    if operator["op"] == "join":
        shapes = source(operator["source"])
        for output in operator["outputs"]:
            slots[output["slot"]] = shapes[output["column"]]
    elif operator["op"] == "assign":
        slots[operator["slot"]] = ANYTHING if operator.get(AS_BYTES) else of_expression(operator["value"], slots)
    elif operator["op"] == "unnest" and operator["slot"] is not None:
        slots[operator["slot"]] = elements(operator["value"], slots)


def elements(value: Mapping[str, Any], slots: Mapping[int, Shape]) -> Shape:
    """The shape of the elements of a list."""
    constant = value.get("constant", {})
    if constant.get("type") == "List" and all(type(item) in (int, str, bool) for item in constant["value"]):
        names = {int: "Int", str: "String", bool: "Bool"}
        kinds = {names[type(item)] for item in constant["value"]}
        # Text stands for values that JSON lacks, too.
        return only(*kinds) if kinds <= {"Int", "Bool"} else ANYTHING
    if value.get("call") == "list":
        found = of_values([])
        for argument in value["arguments"]:
            found = found.widened(of_expression(argument, slots))
        return found
    if value.get("call") == "int_range":
        return only("Int")
    return ANYTHING


def head_shapes(rule: Mapping[str, Any], source: Callable[[Mapping[str, Any]], Sequence[Shape]]) -> List[Shape]:
    """The shapes of the columns of a rule's head."""
    slots: Dict[int, Shape] = {}
    for operator in rule["operators"]:
        step(slots, operator, source)
    return [slots[slot] for slot in rule["head"]]


class Body:
    """A rule while its frames are made."""

    def __init__(self, spark: Any, read: Read, parted: Optional[Parted] = None) -> None:
        self.spark, self.read, self.parted = spark, read, parted
        self.frame: Any = None
        self.slots: Dict[int, Shape] = {}
        self.waiting: List[Mapping[str, Any]] = []
        self.next_free = FREE_SLOT

    def run(self, rule: Mapping[str, Any], wanted: Sequence[Shape]) -> Any:
        """The rows of the rule as columns `c0`, `c1`, ... of these shapes."""
        for operator in rule["operators"]:
            if operator["op"] in JOINS:
                self.relate(operator)
            elif operator["op"] == "distinct":
                self.flush()
                if self.frame is not None:
                    self.frame = self.frame.distinct()
            else:
                self.waiting.append(operator)
                step(self.slots, operator, lambda _: ())
                continue
            self.keep(operator["keep"] + [output["slot"] for output in operator.get("outputs", ())])
        return self.head(rule["head"], wanted)

    def keep(self, slots: Sequence[int]) -> None:
        """Drops the slots that no later operator needs."""
        self.slots = {slot: self.slots[slot] for slot in sorted(set(slots)) if slot in self.slots}
        if self.frame is not None:
            self.frame = self.select()

    def select(self) -> Any:
        from pyspark.sql import functions as F

        columns = [F.col(name(slot)) for slot in self.slots]
        return self.frame.select(*columns) if columns else self.frame.select(F.lit(1).cast("bigint").alias(UNIT))

    def flush(self) -> None:
        """Runs the operators that wait: those that Spark knows at both ends by Spark, and what is between them by
        the evaluator."""
        waiting, self.waiting = self.waiting, []
        if not waiting:
            return
        self.begin()
        slots = self.filled()
        first = self.natively(waiting, slots)
        rest = waiting[first:]
        if not rest:
            return
        last = len(rest)
        after = dict(self.slots)
        while last > 0 and self.is_native(rest[last - 1], after):
            last -= 1
        self.evaluate(rest[:last])
        self.natively(rest[last:], self.filled())

    def begin(self) -> None:
        if self.frame is None:
            from pyspark.sql import functions as F

            self.frame = self.spark.range(1).select(F.lit(1).cast("bigint").alias(UNIT))

    def filled(self) -> Dict[int, Shape]:
        """The slots that the frame has."""
        columns = set(self.frame.columns)
        return {slot: shape for slot, shape in self.slots.items() if name(slot) in columns}

    def is_native(self, operator: Mapping[str, Any], slots: Mapping[int, Shape]) -> bool:
        if operator["op"] == "filter":
            return (
                of_expression(operator["test"], slots).encoding == "Bool"
                and column(operator["test"], slots) is not None
            )
        if operator["op"] == "unnest" or operator.get(AS_BYTES):
            return False
        if column(operator["value"], slots) is None:
            return False
        is_alike = (
            operator["op"] == "assign"
            or slots[operator["slot"]].encoding == of_expression(operator["value"], slots).encoding
        )
        return is_alike

    def natively(self, operators: Sequence[Mapping[str, Any]], slots: Dict[int, Shape]) -> int:
        """Runs operators by Spark up to the first that it does not know; how many these are."""
        from pyspark.sql import functions as F

        for at, operator in enumerate(operators):
            if not self.is_native(operator, slots):
                return at
            if operator["op"] == "filter":
                self.frame = self.frame.where(column(operator["test"], slots))
            elif operator["op"] == "same":
                self.frame = self.frame.where(F.col(name(operator["slot"])) == column(operator["value"], slots))
            else:
                self.frame = self.frame.withColumn(name(operator["slot"]), column(operator["value"], slots))
                slots[operator["slot"]] = of_expression(operator["value"], slots)
        return len(operators)

    def evaluate(self, operators: Sequence[Mapping[str, Any]], outputs: Optional[List[Outgoing]] = None) -> None:
        """Runs operators by the evaluator."""
        given = self.filled()
        if outputs is None:
            filled = dict(given)
            for operator in operators:
                step(filled, operator, lambda _: ())
            outputs = [Outgoing(name(slot), slot, shape.encoding) for slot, shape in filled.items()]
        inputs = [(slot, shape.encoding) for slot, shape in given.items()]
        columns = [name(slot) for slot in given]
        if not inputs:
            inputs, columns = [(self.free(), "Int")], [UNIT]
        if not outputs:
            outputs = [Outgoing(UNIT, inputs[0][0], inputs[0][1])]
        self.frame = passed(self.frame.select(*columns), inputs, operators, outputs)

    def free(self) -> int:
        self.next_free += 1
        return self.next_free

    def relate(self, operator: Mapping[str, Any]) -> None:
        """Joins the rows so far with those of a relation, or tests them."""
        from pyspark.sql import functions as F

        table = self.read(operator["source"], operator.get("rows"))
        is_join = operator["op"] == "join"
        on, right = self.keys(operator["on"], table)
        if self.parted is not None and "rows" not in operator and on and right is table.frame:
            right = self.parted(operator["source"], table, [key for key, _ in on])
        self.flush()
        outputs = operator.get("outputs", ())
        columns = [F.col(f"c{out['column']}").alias(name(out["slot"])) for out in outputs]
        keys = [F.col(key).alias(f"k{at}") for at, (key, _) in enumerate(on)]
        right = right.select(
            *(columns if is_join else []), *keys, *([] if columns or keys else [F.lit(1).alias("k")])
        )
        if self.frame is None and is_join and not on:
            self.frame = right
        else:
            self.begin()
            test = F.lit(True)
            for at, (_, left) in enumerate(on):
                test = (F.col(left) == F.col(f"k{at}")) if at == 0 else test & (F.col(left) == F.col(f"k{at}"))
            how = {"join": "inner", "semi_join": "left_semi", "anti_join": "left_anti"}[operator["op"]]
            self.frame = self.frame.join(right, test, how) if on or not is_join else self.frame.crossJoin(right)
        step(self.slots, operator, lambda _: table.shapes)

    def keys(self, on: Sequence[Mapping[str, Any]], table: Table) -> Tuple[List[Tuple[str, str]], Any]:
        """Pairs of a column of the relation and one of the rows so far; and the relation, whose columns are tested
        against constants and have the encodings of the rows so far.
        """
        from pyspark.sql import functions as F

        pairs, right, recoded = [], table.frame, []
        for key in on:
            at, value = key["column"], key["value"]
            shape = of_expression(value, self.slots)
            wanted = table.shapes[at].encoding
            if "constant" in value:
                if shape.encoding == wanted or wanted == "Ordered":
                    right = right.where(F.col(f"c{at}") == literal(value["constant"], wanted))
                else:
                    right = right.where(F.lit(False))
                continue
            slot = value["slot"] if "slot" in value and shape.encoding == wanted else self.free()
            if "slot" not in value or value["slot"] != slot:
                as_bytes = wanted == "Ordered" and shape.encoding != "Ordered"
                shape = ANYTHING if as_bytes else shape
                self.waiting.append({"op": "assign", "slot": slot, "value": value, AS_BYTES: as_bytes})
                self.slots[slot] = shape
            key_column = f"c{at}"
            if wanted != "Ordered" and shape.encoding != wanted:
                recoded.append(at)
                key_column = f"o{at}"
            pairs.append((key_column, name(slot)))
        if recoded:
            right = self.with_bytes(right, table, recoded)
        return pairs, right

    def with_bytes(self, frame: Any, table: Table, columns: Sequence[int]) -> Any:
        """A relation with the bytes of some columns beside them."""
        inputs = [(at, shape.encoding) for at, shape in enumerate(table.shapes)]
        outputs = [Outgoing(f"c{at}", at, shape.encoding) for at, shape in enumerate(table.shapes)]
        outputs += [Outgoing(f"o{at}", at, "Ordered") for at in columns]
        return passed(frame, inputs, [], outputs)

    def head(self, head: Sequence[int], wanted: Sequence[Shape]) -> Any:
        from pyspark.sql import functions as F

        encodings = [self.slots[slot].encoding for slot in head]
        if encodings != [shape.encoding for shape in wanted]:
            operators, self.waiting = self.waiting, []
            self.begin()
            self.evaluate(operators, [Outgoing(f"c{at}", slot, wanted[at].encoding) for at, slot in enumerate(head)])
            return self.frame
        self.flush()
        self.begin()
        return self.frame.select(*[F.col(name(slot)).alias(f"c{at}") for at, slot in enumerate(head)])
