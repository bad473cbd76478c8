"""Plans in words."""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping

from ._expressions import column, name
from ._infer import Shapes
from ._rules import step
from ._shapes import Shape


def stages(plan: Mapping[str, Any]) -> Iterator[str]:
    """The lines that tell what runs, in order."""
    if "entry" not in plan:
        yield "no query"
    else:
        shapes = Shapes(plan)
        for number, component in enumerate(plan["components"], 1):
            names = ", ".join(plan["tables"][table]["name"] for table in component["tables"])
            yield f"stage {number}: {names}" + (" (rounds until nothing is new)" if component["recursive"] else "")
            yield from component_lines(plan, component, shapes)
    yield from option_lines(plan)


def component_lines(plan: Mapping[str, Any], component: Mapping[str, Any], shapes: Shapes) -> Iterator[str]:
    for constant in component["constants"]:
        yield f"  given: {len(constant['rows'])} rows"
    for fixed in component["fixed"]:
        yield f"  algorithm: {fixed['text']}"
    for rule in component["rules"]:
        described = plan["tables"][rule["table"]]
        yield f"  {described['name']}{rule['text']}"
        slots: Dict[int, Shape] = {}
        for operator in rule["operators"]:
            yield "    " + operator_line(plan, operator, slots)
            step(slots, operator, shapes.source)
        head = ", ".join(f"{name(slot)}: {slots[slot].encoding}" for slot in rule["head"])
        yield f"    {ending(described)} [{head}]"


def ending(described: Mapping[str, Any]) -> str:
    used = [column["aggregation"] for column in described.get("columns", ()) if column]
    if described["kind"] == "set":
        return "rows" if described["distinct"] else "distinct rows"
    return f"groups with {', '.join(used)}" + (", improved in each round" if described["kind"] == "meet" else "")


def operator_line(plan: Mapping[str, Any], operator: Mapping[str, Any], slots: Mapping[int, Shape]) -> str:
    op = operator["op"]
    if op == "distinct":
        return "drop equal rows"
    if "source" in operator:
        words = {
            "join": "join",
            "semi_join": "keep rows with a match in",
            "anti_join": "keep rows without a match in",
        }
        source = operator["source"]
        relation = plan["tables"][source["table"]]["name"] if "table" in source else "*" + source["relation"]
        part = f" ({operator['rows']} rows)" if "rows" in operator else ""
        on = [f"column {key['column']} = {text(key['value'])}" for key in operator["on"]]
        outputs = [f"column {out['column']} -> {name(out['slot'])}" for out in operator.get("outputs", ())]
        return " ".join([words[op], relation + part, ", ".join(on + outputs)]).rstrip()
    value = operator.get("test", operator.get("value"))
    by = "Spark" if op != "unnest" and column(value, slots) is not None else "the evaluator"
    if op == "filter":
        return f"keep rows with {text(value)}, by {by}"
    slot = "_" if operator["slot"] is None else name(operator["slot"])
    relation = {
        "same": "keep rows with {} identical to {}",
        "assign": "{} = {}",
        "unnest": "a row for each {} in {}",
    }[op]
    return relation.format(slot, text(value)) + f", by {by}"


def text(expression: Mapping[str, Any]) -> str:
    """An expression in functional form."""
    if "slot" in expression:
        return name(expression["slot"])
    if "constant" in expression:
        return repr(expression["constant"]["value"])
    if "call" in expression:
        return f"{expression['call']}({', '.join(map(text, expression['arguments']))})"
    return "cond(" + ", ".join(f"{text(case['if'])}, {text(case['then'])}" for case in expression["cases"]) + ")"


def option_lines(plan: Mapping[str, Any]) -> Iterator[str]:
    options: Mapping[str, Any] = plan["options"]
    parts: List[str] = []
    if options["order"]:
        parts.append(
            "sort by "
            + ", ".join(
                f"column {key['column']}{' descending' if key['descending'] else ''}" for key in options["order"]
            )
        )
    if options["offset"]:
        parts.append(f"skip {options['offset']} rows")
    if options["limit"] is not None:
        parts.append(f"keep {options['limit']} rows")
    if options["assert"]:
        parts.append(f"assert {options['assert']}")
    if plan.get("write"):
        parts.append(f"{plan['write']['op']} into {plan['write']['relation']['name']}")
    if parts:
        yield "answer: " + ", then ".join(parts)
