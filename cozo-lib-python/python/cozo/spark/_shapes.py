"""What is known of the values of a column before anything runs, and how Spark stores them.

| encoding | Spark | when |
|---|---|---|
| `Int` | `bigint` | all values are Int |
| `String` | `string` | all values are String |
| `Bool` | `boolean` | all values are Bool |
| `Ordered` | `binary` | all other columns: several types, nulls, floats, lists, ... |

No column has nulls of SQL: null is a value of an `Ordered` column. Equal bytes of an `Ordered` column are identical
values, and bytes sort as values do, so that Spark joins, groups and sorts all columns as the language demands.
"""

from __future__ import annotations

from typing import Any, FrozenSet, Iterable, List, Mapping, NamedTuple, Optional

Types = Optional[FrozenSet[str]]
"""The types that values may have; None if that is not known."""

NOTHING: Types = frozenset()
"""No value has been seen."""

NATIVE = ("Int", "String", "Bool")

PREDICATES = frozenset(
    """eq neq lt le gt ge and or negate is_in is_null is_int is_float is_num is_string is_list is_bytes is_uuid is_json
    starts_with ends_with str_includes regex_matches""".split()
)
ARITHMETIC = frozenset(["add", "sub", "mul", "minus", "max", "min", "abs"])
TEXTS = frozenset(["lowercase", "uppercase", "trim", "trim_start", "trim_end"])
NUMBERS = frozenset(["Int", "Float"])


class Shape(NamedTuple):
    """A column."""

    types: Types

    @property
    def encoding(self) -> str:
        """How Spark stores the values."""
        if self.types is not None and len(self.types) == 1:
            (only,) = self.types
            if only in NATIVE:
                return only
        return "Ordered"

    def widened(self, other: Shape) -> Shape:
        """The shape of the values of both."""
        if self.types is None or other.types is None:
            return ANYTHING
        return Shape(self.types | other.types)


ANYTHING = Shape(None)


def only(*types: str) -> Shape:
    """The shape of values of these types."""
    return Shape(frozenset(types))


def of_declared(column_type: str) -> Shape:
    """The shape of a stored column, by its type in the language."""
    name = column_type.rstrip("?")
    if name not in ("Int", "String", "Bool", "Float", "Bytes", "Uuid", "Json", "Validity"):
        return ANYTHING
    return only(name, "Null") if column_type.endswith("?") else only(name)


def of_values(values: Iterable[Mapping[str, Any]]) -> Shape:
    """The shape of values in a plan."""
    return Shape(frozenset(value["type"] for value in values))


def of_expression(expression: Mapping[str, Any], slots: Mapping[int, Shape]) -> Shape:
    """The shape of what an expression gives."""
    if "slot" in expression:
        return slots[expression["slot"]]
    if "constant" in expression:
        return only(expression["constant"]["type"])
    if "call" in expression:
        arguments = [of_expression(argument, slots) for argument in expression["arguments"]]
        return of_call(expression["call"], [argument.types for argument in arguments])
    shapes = [of_expression(case["then"], slots) for case in expression["cases"]]
    found = only("Null")
    for shape in shapes:
        found = found.widened(shape)
    last = expression["cases"][-1]["if"].get("constant", {})
    if last.get("type") == "Bool" and last.get("value") is True and found.types is not None:
        return Shape(frozenset().union(*(shape.types or frozenset() for shape in shapes)))
    return found


def of_call(function: str, arguments: List[Types]) -> Shape:
    """The shape of the value of a function, if it gives one."""
    if function in PREDICATES:
        return only("Bool")
    if function == "length":
        return only("Int")
    if any(types is None for types in arguments):
        return ANYTHING
    known = [types or frozenset() for types in arguments]
    if function in TEXTS or (function == "concat" and all(types == {"String"} for types in known)):
        return only("String")
    if function in ARITHMETIC and known and all(types <= NUMBERS for types in known):
        if all(types <= {"Int"} for types in known):
            return only("Int")
        any_float = any(types == {"Float"} for types in known) and function not in ("max", "min")
        return only("Float") if any_float else only("Int", "Float")
    if function == "mod" and all(types == {"Int"} for types in known):
        return only("Int")
    if function in ("div", "sqrt", "exp", "ln", "pow") and all(types and types <= NUMBERS for types in known):
        return only("Float")
    return ANYTHING


def of_aggregate(name: str, shape: Shape, has_keys: bool) -> Shape:
    """The shape of what an aggregation gives."""
    if name in ("count", "count_unique", "int_sum"):
        return only("Int")
    if name in ("sum", "mean", "product", "variance", "std_dev"):
        return only("Float")
    if name in ("and", "or"):
        return only("Bool")
    if name in ("min", "max") and shape.types is not None:
        if has_keys and "Null" not in shape.types:
            return shape
        return shape.widened(only("Null"))
    return ANYTHING
