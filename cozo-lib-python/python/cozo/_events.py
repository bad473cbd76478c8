"""Functions that are told of changes, and functions as fixed rules."""

from __future__ import annotations

from typing import Any, Callable, Iterator, List, NamedTuple, Optional

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


class SharedChange(NamedTuple):
    """What a transaction has changed in a relation of a shared database."""

    relation: str
    kind: str
    """`put` or `remove`."""
    new: List[List[Any]]
    """The rows that are new, or the keys that were removed."""
    old: List[List[Any]]
    """The rows that were there before."""
    position: str
    """Where the change is in the log: `Database.changes(relation, after=position)` goes on from here."""


_KINDS = {"Put": "put", "Rm": "remove"}


class Changes:
    """The changes of a relation by all processes of a shared log, in its order, each once. A loop over it waits for ever."""

    def __init__(self, native: Any, relation: str, after: Optional[str]) -> None:
        self.relation = relation
        with translated():
            self._native = native.shared_changes(relation, after)

    def next(self, timeout: Optional[float] = None) -> Optional[SharedChange]:
        """The next change; `None` if none comes within so many seconds."""
        with translated():
            found = self._native.next(timeout)
        if found is None:
            return None
        position, kind, new, old = found
        return SharedChange(self.relation, _KINDS.get(kind, kind), new, old, position)

    @property
    def position(self) -> str:
        """From where to go on when all changes that were taken are dealt with."""
        with translated():
            return self._native.position

    def close(self) -> None:
        """Lets go of what it keeps of the database."""
        with translated():
            self._native.close()

    def __iter__(self) -> Iterator[SharedChange]:
        while True:
            change = self.next()
            if change is not None:
                yield change

    def __enter__(self) -> Changes:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Subscription:
    """A function that is told of changes, until `stop` is called or a `with` ends."""

    def __init__(self, native: Any, relation: str, callback: Callable[[Change], Any]) -> None:
        call = lambda kind, new, old: callback(Change(relation, _KINDS.get(kind, kind), new, old))
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
