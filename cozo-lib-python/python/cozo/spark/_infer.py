"""The shapes of all tables of a plan, before anything runs."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence, Tuple

from ._rules import head_shapes
from ._shapes import ANYTHING, NOTHING, Shape, of_aggregate, of_declared, of_values, only

ALGORITHM_SHAPES = {
    "PageRank": ["node", only("Float")],
    "ConnectedComponents": ["node", only("Int")],
    "WCC": ["node", only("Int")],
    "SSSP": ["node", "node", only("Float")],
    "CDLP": ["node", "node"],
    "DegreeCentrality": ["node", only("Int"), only("Int"), only("Int")],
    "LCC": ["node", only("Float")],
    "ClusteringCoefficients": ["node", only("Float"), only("Int"), only("Int")],
}


class Shapes:
    """For each table the shapes of its columns, and of the heads of its rules: they differ where columns are
    aggregated."""

    def __init__(self, plan: Mapping[str, Any]) -> None:
        self.plan = plan
        relations = {relation["name"]: relation for relation in plan["relations"]}
        self.relations: Dict[str, List[Shape]] = {
            name: [of_declared(column["type"]) for column in relation["keys"] + relation["values"]]
            for name, relation in relations.items()
        }
        width = [table["arity"] for table in plan["tables"]]
        self.tables: List[Tuple[Shape, ...]] = [(Shape(NOTHING),) * arity for arity in width]
        self.heads: List[Tuple[Shape, ...]] = list(self.tables)
        for component in plan["components"]:
            self._component(component)

    def source(self, source: Mapping[str, Any]) -> Sequence[Shape]:
        """The shapes of a relation or of a table."""
        return self.tables[source["table"]] if "table" in source else self.relations[source["relation"]]

    def _component(self, component: Mapping[str, Any]) -> None:
        for constant in component["constants"]:
            columns = zip(*constant["rows"]) if constant["rows"] else [()] * len(self.tables[constant["table"]])
            self.tables[constant["table"]] = tuple(of_values(values) for values in columns)
        for fixed in component["fixed"]:
            self.tables[fixed["table"]] = tuple(self._fixed(fixed))
        # Types only widen, so this ends.
        while True:
            before = [self.tables[table] for table in component["tables"]]
            for rule in component["rules"]:
                self._rule(rule)
            if before == [self.tables[table] for table in component["tables"]]:
                return

    def _rule(self, rule: Mapping[str, Any]) -> None:
        table = rule["table"]
        found = head_shapes(rule, self.source)
        self.heads[table] = tuple(known.widened(new) for known, new in zip(self.heads[table], found))
        columns = self.plan["tables"][table].get("columns") or [None] * len(found)
        has_keys = any(used is None for used in columns)
        results = [
            shape if used is None else of_aggregate(used["aggregation"], shape, has_keys)
            for used, shape in zip(columns, self.heads[table])
        ]
        self.tables[table] = tuple(known.widened(new) for known, new in zip(self.tables[table], results))

    def _fixed(self, fixed: Mapping[str, Any]) -> List[Shape]:
        node = Shape(NOTHING)
        for at, given in enumerate(fixed["inputs"]):
            shapes = self.source(given["source"])
            for shape in shapes[: 2 if at == 0 else 1]:
                node = node.widened(shape)
        columns = ALGORITHM_SHAPES.get(fixed["rule"])
        if columns is None:
            return [ANYTHING] * len(self.tables[fixed["table"]])
        return [node if column == "node" else column for column in columns]
