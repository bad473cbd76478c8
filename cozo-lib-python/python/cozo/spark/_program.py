"""A run: the components of a plan one after the other, each table a frame."""

from __future__ import annotations

import logging
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from ._algorithms import run_fixed
from ._groups import grouped
from ._infer import Shapes
from ._loop import OnRound, rounds
from ._plan import Declared
from ._relations import Stored, Table
from ._rows import schema_of
from ._rules import Body
from ._shapes import Shape

log = logging.getLogger("cozo.spark")

CHECKPOINT_ROUNDS = 6
"""After so many rounds of a recursion its rows are stored as such. More make the plans of Spark longer, fewer store
more often."""


class Settings(NamedTuple):
    """How a run uses the cluster."""

    partitions: int
    checkpoint_rounds: int = CHECKPOINT_ROUNDS
    on_round: Optional[OnRound] = None


class Program:
    """The run of a plan."""

    def __init__(self, spark: Any, declared: Declared, stored: Mapping[str, Stored], settings: Settings) -> None:
        self.spark, self.plan, self.settings = spark, declared.plan, settings
        self.columns, self.stored_relations = declared.columns, stored
        self.shapes = Shapes(self.plan)
        self.tables: Dict[int, Any] = {}
        self.loop: Any = None
        self.persisted: List[Any] = []
        self._relations: Dict[Tuple[str, bool], Table] = {}
        self._parted: Dict[Any, Any] = {}

    def answer(self) -> Table:
        """The rows of the entry, in no order."""
        for number, component in enumerate(self.plan["components"]):
            log.info("component %d of %d: %s", number + 1, len(self.plan["components"]), self.names(component))
            self.component(component)
        entry = self.plan["entry"]
        return Table(self.tables[entry], self.shapes.tables[entry])

    def names(self, component: Mapping[str, Any]) -> str:
        return ", ".join(self.plan["tables"][table]["name"] for table in component["tables"])

    def component(self, component: Mapping[str, Any]) -> None:
        for constant in component["constants"]:
            self.tables[constant["table"]] = self.constant(constant)
        for fixed in component["fixed"]:
            self.tables[fixed["table"]] = run_fixed(self, fixed)
        if component["recursive"]:
            self.tables.update(rounds(self, component))
        elif component["rules"]:
            (table,) = component["tables"]
            frame = self.once(table, component["rules"])
            self.tables[table] = self.keep(frame) if self.readers(table) > 1 else frame

    def readers(self, table: int) -> int:
        """How often rules read a table; a rule of a recursion reads it in each round."""
        count = 0
        for component in self.plan["components"]:
            sources = [operator.get("source", {}) for rule in component["rules"] for operator in rule["operators"]]
            sources += [given["source"] for fixed in component["fixed"] for given in fixed["inputs"]]
            found = sum(source.get("table") == table for source in sources)
            count += found * (2 if component["recursive"] else 1)
        return count

    def once(self, table: int, rules: Sequence[Mapping[str, Any]]) -> Any:
        """The rows of a table whose rules do not read it."""
        described = self.plan["tables"][table]
        is_set = described["kind"] == "set"
        wanted = self.shapes.tables[table] if is_set else self.shapes.heads[table]
        rows = self.rule_rows(rules[0], wanted, is_bag=not is_set)
        for rule in rules[1:]:
            rows = rows.unionAll(self.rule_rows(rule, wanted, is_bag=not is_set))
        if not is_set:
            return grouped(rows, wanted, described["columns"], self.shapes.tables[table])
        return rows if described["distinct"] and self.reads_unique(rules) else rows.distinct()

    def reads_unique(self, rules: Sequence[Mapping[str, Any]]) -> bool:
        """Whether the relations that rules read have no row twice."""
        names = [
            operator["source"].get("relation")
            for rule in rules
            for operator in rule["operators"]
            if "source" in operator
        ]
        return all(self.stored_relations[name].relation.is_unique for name in names if name is not None)

    def rule_rows(self, rule: Mapping[str, Any], wanted: Sequence[Shape], is_bag: bool = False) -> Any:
        """The solutions of a rule."""

        def read(source: Mapping[str, Any], part: Optional[str]) -> Table:
            return self.read(source, part, is_bag)

        return Body(self.spark, read, self.parted if self.loop is not None else None).run(rule, wanted)

    def parted(self, source: Mapping[str, Any], table: Table, columns: Sequence[str]) -> Any:
        """A table that does not grow, parted by columns, so that the rounds of a recursion need not shuffle it."""
        key = (source.get("table"), source.get("relation"), tuple(columns))
        if key not in self._parted:
            self._parted[key] = self.keep(table.frame.repartition(self.settings.partitions, *columns))
        return self._parted[key]

    def read(self, source: Mapping[str, Any], part: Optional[str] = None, is_bag: bool = False) -> Table:
        """The rows of a source. In a bag each row must be there once."""
        growing = self.loop.read(source, part) if self.loop is not None else None
        if growing is not None:
            return growing
        if "table" in source:
            return Table(self.tables[source["table"]], self.shapes.tables[source["table"]])
        return self.relation(source["relation"], is_bag)

    def relation(self, name: str, is_bag: bool) -> Table:
        stored = self.stored_relations[name]
        key = (name, is_bag and not stored.relation.is_unique)
        if key not in self._relations:
            table, was_evaluated = stored.table(self.columns[name])
            frame = table.frame.distinct() if key[1] else table.frame
            self._relations[key] = Table(self.keep(frame) if was_evaluated or key[1] else frame, table.shapes)
        return self._relations[key]

    def constant(self, constant: Mapping[str, Any]) -> Any:
        """A table of given rows."""
        shapes = self.shapes.tables[constant["table"]]
        rows = {tuple(plain(value, shape) for value, shape in zip(row, shapes)) for row in constant["rows"]}
        return self.spark.createDataFrame([tuple(row) for row in rows], self.schema(shapes))

    def schema(self, shapes: Sequence[Shape]) -> str:
        return schema_of([(f"c{at}", shape.encoding) for at, shape in enumerate(shapes)])

    def nothing(self, shapes: Sequence[Shape]) -> Any:
        """A frame without rows."""
        return self.spark.createDataFrame([], self.schema(shapes))

    def keep(self, frame: Any, among: Optional[List[Any]] = None) -> Any:
        """A frame that is computed once."""
        from pyspark import StorageLevel

        kept = frame.persist(StorageLevel.MEMORY_AND_DISK)
        self.persisted.append(kept)
        if among is not None:
            among.append(kept)
        return kept

    def stored(self, frame: Any, among: List[Any]) -> Any:
        """A frame without a lineage. It is in the folder for checkpoints of the session, or else on two executors."""
        from pyspark import StorageLevel

        if checkpoint_folder(self.spark):
            return frame.checkpoint(eager=True)
        level = StorageLevel.MEMORY_AND_DISK if self.is_alone else StorageLevel.MEMORY_AND_DISK_2
        stored = frame.localCheckpoint(eager=True, storageLevel=level)
        self.persisted.append(stored)
        among.append(stored)
        return stored

    @property
    def is_alone(self) -> bool:
        """Whether all runs in one process, so that there is no other place for a copy."""
        master = self.spark.conf.get("spark.master", "")
        return master.startswith("local") and not master.startswith("local-cluster")

    def drop(self, frames: Sequence[Any]) -> None:
        """Lets go of frames that nothing needs any more."""
        for frame in frames:
            frame.unpersist()
            release(frame)
        dropped = {id(frame) for frame in frames}
        self.persisted = [frame for frame in self.persisted if id(frame) not in dropped]

    def close(self) -> None:
        self.drop(list(self.persisted))


def release(frame: Any) -> None:
    """Frees the rows of a frame without a lineage, which `unpersist` does not know."""
    try:
        frame._jdf.logicalPlan().rdd().unpersist(False)
    except Exception:  # Another kind of frame, or Spark Connect, where the server frees them.
        pass


def checkpoint_folder(spark: Any) -> Optional[str]:
    """The folder for checkpoints, if the session has one."""
    try:
        return spark.sparkContext.getCheckpointDir()
    except Exception:  # Spark Connect has no context on this side.
        return spark.conf.get("spark.checkpoint.dir", None)


def plain(value: Mapping[str, Any], shape: Shape) -> Any:
    """A value of a plan as Spark stores it."""
    import base64

    return base64.b64decode(value["encoded"]) if shape.encoding == "Ordered" else value["value"]
