"""Expressions as columns of Spark, where Spark means exactly the same.

All others are left to the evaluator of the database (`_rows`). The columns here cannot fail but for sums beyond 64
bits, which are errors in the language whatever the session's setting of ANSI SQL is. Comparisons are between values
of one native encoding, so neither nulls nor numbers of two types are involved; strings compare by their bytes in
both worlds.
"""

from __future__ import annotations

import base64
from typing import Any, Mapping, Optional

from ._shapes import Shape, of_expression

COMPARISONS = {
    "eq": lambda a, b: a == b,
    "neq": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
}
CHECKED = {"add": "try_add", "sub": "try_subtract", "mul": "try_multiply"}


def name(slot: int) -> str:
    """The column of a slot."""
    return f"s{slot}"


def literal(constant: Mapping[str, Any], encoding: str) -> Any:
    """A value of a plan as a column of this encoding."""
    from pyspark.sql import functions as F

    if encoding == "Ordered":
        return F.lit(bytearray(base64.b64decode(constant["encoded"])))
    value = F.lit(constant["value"])
    return value.cast("bigint") if encoding == "Int" else value


def column(expression: Mapping[str, Any], slots: Mapping[int, Shape]) -> Optional[Any]:
    """The expression as a column; None if Spark would mean something else by it."""
    from pyspark.sql import functions as F

    if "slot" in expression:
        return F.col(name(expression["slot"]))
    if "constant" in expression:
        return literal(expression["constant"], of_expression(expression, slots).encoding)
    if "call" not in expression or expression.get("varies"):
        return None
    function, given = expression["call"], expression["arguments"]
    arguments = [column(argument, slots) for argument in given]
    encodings = [of_expression(argument, slots).encoding for argument in given]
    if any(argument is None for argument in arguments):
        return None
    if function in COMPARISONS and len(set(encodings)) == 1 and encodings[0] in ("Int", "String"):
        return COMPARISONS[function](*arguments)
    if function in ("eq", "neq") and encodings == ["Bool", "Bool"]:
        return COMPARISONS[function](*arguments)
    if function == "negate" and encodings == ["Bool"]:
        return ~arguments[0]
    if function in ("and", "or") and arguments and set(encodings) == {"Bool"}:
        joined = arguments[0]
        for argument in arguments[1:]:
            joined = joined & argument if function == "and" else joined | argument
        return joined
    if function in CHECKED and encodings == ["Int", "Int"]:
        total = getattr(F, CHECKED[function])(*arguments)
        return F.coalesce(total, F.raise_error(F.lit(overflow(function))).cast("bigint"))
    return None


def overflow(function: str) -> str:
    """The text of the error of a sum beyond 64 bits."""
    from ._errors import MARK

    return MARK + '{"code": "eval::throw", "message": "' + function + ': the result is beyond 64 bits"}'
