"""Functions that are told of changes, and functions as fixed rules."""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple

from ._data import table_of
from ._errors import translated
from ._times import plain


class Change(NamedTuple):
    """What a commit has changed in a relation."""

    relation: str
    kind: str
    """`put` or `remove`."""
    new: List[List[Any]]
    """The rows that are new, or the keys that were removed."""
    old: List[List[Any]]
    """The rows that were there before."""


class Subscription:
    """A function that is told of changes, until `stop` is called or a `with` ends."""

    def __init__(self, native: Any, relation: str, callback: Callable[[Change], Any]) -> None:
        kinds = {"Put": "put", "Rm": "remove"}
        call = lambda kind, new, old: callback(Change(relation, kinds.get(kind, kind), new, old))
        self.relation = relation
        self._native = native
        with translated():
            self._number = native.register_callback(relation, call)

    def stop(self) -> bool:
        """Ends it; whether it had not ended yet."""
        with translated():
            return self._native.unregister_callback(self._number)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()


def rule_of(function: Callable[..., Any], columns: int) -> Callable[[list, dict], list]:
    """A function of inputs and options as the native module wants it."""

    def call(inputs: list, options: dict) -> list:
        given = function(*inputs, **options)
        if hasattr(given, "__arrow_c_stream__") or hasattr(given, "reset_index"):
            return table_of(given).rows()
        rows = [row if isinstance(row, (list, tuple)) or columns != 1 else [row] for row in given]
        return [plain(row) for row in rows]

    return call
