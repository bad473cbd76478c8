"""Recursion: the semi-naive loop over frames.

A round joins the rows that the last round added, the *delta*, with what is known. New rows are those that an anti-join
does not find among the known ones. A growing table and its deltas are parted alike, so that a round shuffles its new
rows alone. Each delta is stored without its lineage: the plan of Spark would double with each round otherwise. After
some rounds the deltas so far are stored as one frame.
"""

from __future__ import annotations

import logging
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Sequence, Set

from ._groups import grouped
from ._relations import Table

log = logging.getLogger("cozo.spark")


class Growing(NamedTuple):
    """A table of a recursive component between two rounds."""

    old: Any
    delta: Any
    known: Any
    rows: int


class Loop:
    """The rounds of one component."""

    def __init__(self, run: Any, component: Mapping[str, Any]) -> None:
        self.run, self.component = run, component
        self.tables: Dict[int, Growing] = {}
        self.kept: List[Any] = []
        self.without_rows: Set[int] = set()
        """The meets without grouping columns that no rule has given a row so far: the value of no rows is no input."""

    def finish(self) -> Dict[int, Any]:
        """The frames of the component's tables, once no round adds rows."""
        rules = self.component["rules"]
        first = [rule for rule in rules if not self._is_recursive(rule)]
        for table in self.component["tables"]:
            self._begin(table, self._rows_of([rule for rule in first if rule["table"] == table], table))
        round_number = 0
        self._report(round_number)
        while any(growing.rows for growing in self.tables.values()):
            round_number += 1
            self._round(round_number, [rule for rule in rules if self._is_recursive(rule)])
            self._report(round_number)
        return {table: growing.known for table, growing in self.tables.items()}

    @staticmethod
    def _is_recursive(rule: Mapping[str, Any]) -> bool:
        return any("rows" in operator for operator in rule["operators"])

    def read(self, source: Mapping[str, Any], part: Optional[str]) -> Optional[Table]:
        """The rows of a table of this component; None for any other source."""
        growing = self.tables.get(source.get("table"))
        if growing is None:
            return None
        # Old rows of a meet may have improved since: what they give, they gave before.
        is_old = part == "old" and not self._is_meet(source["table"])
        frame = growing.delta if part == "delta" else growing.old if is_old else growing.known
        return Table(frame, self.run.shapes.tables[source["table"]])

    def _rows_of(self, rules: Sequence[Mapping[str, Any]], table: int) -> Any:
        """The solutions of rules in the partitions of their table."""
        shapes = self.run.shapes.tables[table]
        frames = [self.run.rule_rows(rule, shapes) for rule in rules] or [self.run.nothing(shapes)]
        rows = frames[0]
        for frame in frames[1:]:
            rows = rows.unionAll(frame)
        keys = self._keys(table)
        return rows.repartition(self.run.settings.partitions, *keys) if keys else rows.coalesce(1)

    def _keys(self, table: int) -> List[str]:
        """The columns by which a table is parted: all of a set, the grouping columns of a meet."""
        described = self.run.plan["tables"][table]
        columns = described.get("columns") or [None] * described["arity"]
        return [f"c{at}" for at, used in enumerate(columns) if used is None]

    def _is_meet(self, table: int) -> bool:
        return self.run.plan["tables"][table]["kind"] == "meet"

    def _best(self, table: int, rows: Any) -> Any:
        """The groups of a meet."""
        shapes = self.run.shapes.tables[table]
        return grouped(rows, shapes, self.run.plan["tables"][table]["columns"], shapes, self.run.settings.partitions)

    def _begin(self, table: int, rows: Any) -> None:
        first = self._best(table, rows) if self._is_meet(table) else rows.distinct()
        if not self._keys(table) and rows.isEmpty():
            self.without_rows.add(table)
        delta = self.run.stored(first, self.kept)
        nothing = self.run.nothing(self.run.shapes.tables[table])
        self.tables[table] = Growing(nothing, delta, delta, delta.count())

    def _round(self, number: int, rules: Sequence[Mapping[str, Any]]) -> None:
        after, done = {}, self.kept
        self.kept = []
        active = {table for table, growing in self.tables.items() if growing.rows}
        for table, growing in self.tables.items():
            reading = [rule for rule in rules if rule["table"] == table and self._delta_of(rule) in active]
            after[table] = self._grown(table, growing, reading)
        self.tables = after
        if number % self.run.settings.checkpoint_rounds == 0:
            self._gather()
            self.run.drop(done)
        else:
            self.kept = done + self.kept

    @staticmethod
    def _delta_of(rule: Mapping[str, Any]) -> Optional[int]:
        found = [operator["source"]["table"] for operator in rule["operators"] if operator.get("rows") == "delta"]
        return found[0] if found else None

    def _grown(self, table: int, growing: Growing, rules: Sequence[Mapping[str, Any]]) -> Growing:
        """A table after a round."""
        nothing = self.run.nothing(self.run.shapes.tables[table])
        if not rules:
            return Growing(growing.known, nothing, growing.known, 0)
        rows = self._rows_of(rules, table)
        if self._is_meet(table):
            if table in self.without_rows:
                if rows.isEmpty():
                    return Growing(growing.known, nothing, growing.known, 0)
                self.without_rows.discard(table)
            else:
                rows = growing.known.unionAll(rows)
            known = self.run.stored(self._best(table, rows), self.kept)
            delta = self.run.stored(self._improved(table, known, growing.known), self.kept)
            return Growing(growing.known, delta, known, delta.count())
        names = [f"c{at}" for at in range(self.run.plan["tables"][table]["arity"])]
        delta = self.run.stored(rows.distinct().join(growing.known, names, "left_anti"), self.kept)
        count = delta.count()
        return Growing(growing.known, delta, growing.known.unionAll(delta) if count else growing.known, count)

    def _improved(self, table: int, known: Any, before: Any) -> Any:
        """The groups that are new, or have another value than before."""
        from pyspark.sql import functions as F

        keys, names = self._keys(table), known.columns
        old = before.select(*[F.col(name).alias("b" + name) for name in names], F.lit(True).alias("was"))
        test = F.lit(True)
        for at, key in enumerate(keys):
            test = (F.col(key) == F.col("b" + key)) if at == 0 else test & (F.col(key) == F.col("b" + key))
        changed = F.col("was").isNull()
        for name in names:
            changed = changed | (F.col(name) != F.col("b" + name))
        return known.join(old, test, "left").where(changed).select(*names)

    def _gather(self) -> None:
        """Stores the known rows of each set as one frame, which is made of the deltas of several rounds."""
        for table, growing in self.tables.items():
            if self._is_meet(table):
                # A round that changed nothing left the frames of an earlier one.
                known = self.run.stored(growing.known, self.kept)
                delta = self.run.stored(growing.delta, self.kept) if growing.rows else growing.delta
                self.tables[table] = Growing(known, delta, known, growing.rows)
                continue
            old = self.run.stored(growing.old, self.kept)
            if not growing.rows:
                self.tables[table] = Growing(old, growing.delta, old, 0)
                continue
            self.tables[table] = Growing(old, growing.delta, old.unionAll(growing.delta), growing.rows)

    def _report(self, number: int) -> None:
        names = self.run.plan["tables"]
        added = {names[table]["name"]: growing.rows for table, growing in self.tables.items()}
        log.info("round %d adds %s", number, added)
        if self.run.settings.on_round is not None:
            self.run.settings.on_round(number, added)


ADAPTIVE = "spark.sql.adaptive.enabled"


def rounds(run: Any, component: Mapping[str, Any]) -> Dict[int, Any]:
    """Runs a recursive component; the frames of its tables."""
    loop, before = Loop(run, component), run.spark.conf.get(ADAPTIVE)
    run.loop = loop
    # Partitions that Spark changes as it goes are not alike any more, and each round would shuffle all that is known.
    run.spark.conf.set(ADAPTIVE, "false")
    try:
        return loop.finish()
    finally:
        run.loop = None
        run.spark.conf.set(ADAPTIVE, before)


OnRound = Callable[[int, Dict[str, int]], Any]
