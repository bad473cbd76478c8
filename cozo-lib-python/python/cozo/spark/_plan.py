"""The plan of a script over relations that are elsewhere: made by a database in memory, in which they are
declared."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Sequence

from .._database import connect
from .._errors import translated
from .._schema import Column, relation_name
from ._errors import unsupported
from ._relations import Stored

ALGORITHMS = frozenset(
    ["PageRank", "ConnectedComponents", "WCC", "SSSP", "CDLP", "DegreeCentrality", "LCC", "ClusteringCoefficients"]
)
VERSION = 1


class Declared:
    """The plan of a script, and the columns of the relations that it reads."""

    def __init__(self, script: str, stored: Mapping[str, Stored], parameters: Mapping[str, Any]) -> None:
        self.columns: Dict[str, List[Column]] = {}
        sizes = {}
        with connect() as db:
            for name, relation in stored.items():
                db.run(f":create {relation_name(name)} {relation.declaration()}")
                self.columns[name] = db.columns(name)
                relation.check(self.columns[name])
                if relation.relation.rows is not None:
                    sizes[name] = {"rows": relation.relation.rows, "distinct": relation.relation.distinct}
            self.plan = db.plan(script, parameters, sizes=sizes)
        with translated():
            check(self.plan)


def check(plan: Mapping[str, Any]) -> None:
    """Refuses a plan that does not run on Spark, before anything starts."""
    if plan["version"] != VERSION:
        raise unsupported(f"a plan of version {plan['version']}", "use packages of one version")
    for component in plan.get("components", ()):
        for fixed in component["fixed"]:
            if fixed["rule"] not in ALGORITHMS:
                raise unsupported(f"the fixed rule '{fixed['rule']}'", advice(fixed["rule"]))
            if (
                fixed["rule"] == "PageRank"
                and fixed["options"].get("epsilon", {}).get("constant", {}).get("value") != 0
            ):
                raise unsupported("'PageRank' that ends by 'epsilon', and so depends on the order of nodes", ROUNDS)
        for constant in component["constants"]:
            if "listing" in constant:
                raise unsupported(f"reading the search index '{constant['listing']}'", LOCALLY)
        for rule in component["rules"]:
            check_operators(rule["operators"])
    for table in plan.get("tables", ()):
        for used in table.get("columns", ()):
            if used and used["order_matters"]:
                raise unsupported(
                    f"the aggregation '{used['aggregation']}', whose value depends on the order of rows",
                    "aggregate with 'min', 'max', 'unique' or 'union'; " + LOCALLY,
                )
            if used and used["aggregation"] == "choice_rand":
                raise unsupported(
                    "the aggregation 'choice_rand'", "use 'min' or 'max', which choose the same value each time"
                )
    check_write(plan.get("write"))


ROUNDS = "give 'epsilon: 0', and the number of rounds as 'iterations'"
LOCALLY = "filter on Spark first, bring the result into a database with '.to_cozo(db, name)', and run the rest there"


def advice(rule: str) -> str:
    if rule == "LabelPropagation":
        return (
            "its result depends on the order of nodes: use 'CDLP', the synchronous label propagation; or " + LOCALLY
        )
    if rule.startswith("ShortestPath"):
        return "use 'SSSP' for the costs; for paths, " + LOCALLY
    return LOCALLY


def check_operators(operators: Sequence[Mapping[str, Any]]) -> None:
    for operator in operators:
        if operator["op"] == "search":
            raise unsupported(f"a search in the index '{operator['index']}'", LOCALLY)
        if operator["op"] == "as_of" or "as_of" in operator.get("source", ()):
            raise unsupported(
                "a read as of a time ('@')", "keep the rows of that time with a filter on the Validity; or " + LOCALLY
            )
        for varying in functions_that_vary(operator):
            raise unsupported(
                f"the function '{varying}', whose value differs from call to call", "pass its value as a parameter"
            )


def functions_that_vary(part: Any) -> List[str]:
    """The functions in an operator that may give another value for the same arguments."""
    if isinstance(part, dict):
        found = [part["call"]] if part.get("varies") else []
        return found + [name for inner in part.values() for name in functions_that_vary(inner)]
    return [name for inner in part for name in functions_that_vary(inner)] if isinstance(part, list) else []


def check_write(write: Any) -> None:
    if write is None:
        return
    if write["op"] not in ("create", "replace", "put"):
        raise unsupported(f"':{write['op']}'", "write a whole relation with ':create', ':replace' or ':put'")
    if any("stored" in source for source in write["sources"]):
        raise unsupported("a write that keeps stored values", "give all columns")
