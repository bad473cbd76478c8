"""Columns and their types, as a script spells them."""

from __future__ import annotations

import datetime
import re
import uuid
from typing import Any, Iterable, NamedTuple, Sequence

from ._errors import refused
from ._times import is_missing

NAME = re.compile(r"[^\W\d]\w*\Z")
RELATION = re.compile(r"[^\W\d][\w.:]*\Z")


class Column(NamedTuple):
    """A column of a stored relation."""

    name: str
    type: str
    """Such as `Int` or `String?`, which may be null."""
    is_key: bool
    has_default: bool


def relation_name(name: str) -> str:
    """The name of a relation, if a script can have it."""
    if isinstance(name, str) and RELATION.match(name):
        return name
    help = "a name has letters, digits and '_', and begins with a letter"
    raise refused("bad_name", f"{name!r} is no name of a relation", help)


def column_names(names: Iterable[Any]) -> list[str]:
    """The names of columns, if a script can have them."""
    names = list(names)
    for name in names:
        if not (isinstance(name, str) and NAME.match(name)):
            raise refused(
                "bad_name", f"{name!r} is no name of a column", "rename the column: letters, digits and '_', a letter first"
            )
    return names


def type_of_values(values: Sequence[Any]) -> str:
    """The type of a column with these values."""
    kinds, nullable = set(), False
    for value in values:
        kind = type_of(value)
        nullable |= kind is None
        kinds.add(kind)
    kinds.discard(None)
    if kinds == {"Int", "Float"}:
        kinds = {"Float"}
    [kind] = kinds if len(kinds) == 1 else ["Any"]
    return kind + "?" if nullable or kind == "Any" else kind


def type_of(value: Any) -> str | None:
    """The type of a value; None for a missing one."""
    if value is None or is_missing(value):
        return None
    for classes, name in BY_CLASS:
        if isinstance(value, classes):
            return name
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if getattr(value, "ndim", None) == 1 and kind == "f":
        return f"<{'F32' if value.dtype.itemsize <= 4 else 'F64'}; {len(value)}>"
    if hasattr(value, "item") and getattr(value, "ndim", 0) == 0:
        return BY_KIND.get(kind, "Any")
    if isinstance(value, (list, tuple)) and value:
        inner = type_of_values(value)
        return "Any" if inner == "Any?" else f"[{inner}]"
    return "Any"


BY_KIND = {"b": "Bool", "i": "Int", "u": "Int", "f": "Float", "M": "Float", "m": "Float", "U": "String"}
"""Types by the kind of a type of numpy."""

BY_CLASS = [
    (bool, "Bool"),
    (int, "Int"),
    (float, "Float"),
    (str, "String"),
    ((bytes, bytearray), "Bytes"),
    ((datetime.date, datetime.timedelta), "Float"),
    (uuid.UUID, "Uuid"),
    (dict, "Json"),
]


def type_of_field(field: Any, has_nulls: bool) -> str:
    """The type for a field of an Arrow schema of pyarrow."""
    kind = arrow_kind(field.type, field.metadata or {})
    return kind + "?" if has_nulls or kind == "Any" else kind


def arrow_kind(arrow: Any, metadata: dict) -> str:
    """The type for an Arrow type."""
    import pyarrow.types as types

    if metadata.get(b"cozo.type"):
        return metadata[b"cozo.type"].decode()
    extension = getattr(arrow, "extension_name", None) or metadata.get(b"ARROW:extension:name", b"").decode()
    if extension:
        return {"arrow.uuid": "Uuid"}.get(extension, "Any")
    if types.is_dictionary(arrow):
        return arrow_kind(arrow.value_type, {})
    if types.is_fixed_size_list(arrow) and types.is_floating(arrow.value_type):
        return f"<{'F64' if types.is_float64(arrow.value_type) else 'F32'}; {arrow.list_size}>"
    for test, name in (
        (types.is_boolean, "Bool"),
        (types.is_integer, "Int"),
        (types.is_floating, "Float"),
        (types.is_string, "String"),
        (types.is_large_string, "String"),
        (types.is_string_view, "String"),
        (types.is_binary, "Bytes"),
        (types.is_large_binary, "Bytes"),
        (types.is_binary_view, "Bytes"),
        (types.is_fixed_size_binary, "Bytes"),
        (types.is_struct, "Json"),
    ):
        if test(arrow):
            return name
    return "Any"


def definition(names: Sequence[str], types: Sequence[str], key: Sequence[str]) -> str:
    """The columns of a relation within braces."""
    typed = dict(zip(names, types))
    keys = ", ".join(f"{name}: {typed[name]}" for name in key)
    values = ", ".join(f"{name}: {typed[name]}" for name in names if name not in key)
    return "{" + keys + (" => " + values if values else "") + "}"
