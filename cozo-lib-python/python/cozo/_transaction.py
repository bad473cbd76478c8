"""Transactions over several scripts."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional

from ._errors import Error, translated
from ._result import Result
from ._schema import Column
from ._writes import Writes, run


class Transaction(Writes):
    """Several scripts as one: all of them take effect, or none. `Database.transaction` begins one.

    >>> with db.transaction() as tx:
    ...     age = tx.run("?[age] := *person{name: 'Ann', age}").value()
    ...     tx.put("person", {"name": "Ann", "age": age + 1})
    """

    def __init__(self, database: Any, native: Any) -> None:
        self._database = database
        self._native = native

    def run(self, script: str, parameters: Optional[Mapping[str, Any]] = None, /, **named: Any) -> Result:
        """Runs a single query. If it fails, it leaves no trace, and the transaction goes on."""
        return Result(run(self._native.run_script_arrow, script, parameters, named))

    def columns(self, relation: str) -> List[Column]:
        """The columns of a relation, keys first."""
        try:
            return columns_of(self.run(f"::columns {relation}"))
        except Error:
            return self._database.columns(relation)

    def commit(self) -> None:
        """Makes the writes lasting; `with` does it. An error with the code `transact::conflict` asks to run the
        transaction again.
        """
        with translated():
            self._native.commit()

    def abort(self) -> None:
        """Undoes everything; `with` does it when its body raises."""
        with translated():
            self._native.abort()

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: Any, raised: Any, traceback: Any) -> None:
        if kind is None:
            self.commit()
        else:
            self.abort()


def columns_of(result: Result) -> List[Column]:
    """The columns that `::columns` lists."""
    return [
        Column(row["column"], row["type"], bool(row["is_key"]), bool(row["has_default"])) for row in result.dicts()
    ]
