"""Data into relations, for databases and transactions alike."""

from __future__ import annotations

from typing import Any, Callable, List, Mapping, Optional

from ._data import Table, table_of
from ._errors import refused, translated
from ._result import Result
from ._schema import Column, relation_name
from ._times import plain


def run(native: Callable, script: str, positional: Optional[Mapping[str, Any]], named: dict, *options: bool) -> Any:
    """Runs a script with parameters of either kind: what `native` gives for the script, the parameters and the options."""
    parameters = {**(positional or {}), **named}
    with translated():
        try:
            return native(script, parameters, *options)
        except Exception as raised:
            described = raised.args[0] if raised.args else None
            if not (isinstance(described, dict) and described.get("code") == "python::unconvertible"):
                raise
            # The script has not begun: parameters are converted before. Most have nothing to convert, and are not
            # looked through.
            values = {name: plain(value) for name, value in parameters.items()}
            if all(values[name] is parameters[name] for name in values):
                raise
        return native(script, values, *options)


class Writes:
    """What writes rows. The data may be a frame of pandas or polars, a table of pyarrow or whatever else speaks
    Arrow, a list of dicts, a dict of columns, a dict with one row, or rows in the order of the relation's columns.
    """

    def run(self, script: str, parameters: Optional[Mapping[str, Any]] = None, /, **named: Any) -> Result:
        """Runs a script."""
        raise NotImplementedError

    def columns(self, relation: str) -> List[Column]:
        """The columns of a relation, keys first."""
        raise NotImplementedError

    def put(self, relation: str, data: Any) -> None:
        """Puts rows, in the place of those with the same keys.

        >>> db.put("person", [{"name": "Cid", "age": 45}])
        """
        self._write("put", relation, data)

    def insert(self, relation: str, data: Any) -> None:
        """Adds rows, whose keys must be new.

        >>> db.insert("person", {"name": ["Dot", "Eva"], "age": [19, 52]})
        """
        self._write("insert", relation, data)

    def update(self, relation: str, data: Any) -> None:
        """Changes the columns that the data has, in rows that there are.

        >>> db.update("person", {"name": "Ann", "age": 32})
        """
        self._write("update", relation, data)

    def remove(self, relation: str, data: Any) -> None:
        """Removes the rows with these keys; other columns of the data are left aside.

        >>> db.remove("person", [{"name": "Ann"}])
        """
        self._write("rm", relation, data)

    def _write(self, operation: str, relation: str, data: Any) -> None:
        columns = self.columns(relation_name(relation))
        known = [column.name for column in columns]
        in_micros = [column.name for column in columns if column.type.startswith("Validity")]
        table = table_of(data, known, in_micros)
        wanted = [column.name for column in columns if column.is_key] if operation == "rm" else known
        for name in table.names:
            if name not in known:
                message = f"relation '{relation}' has no column '{name}'"
                raise refused("no_column", message, f"its columns are {', '.join(known)}")
        if table.count:
            self._write_table(operation, relation, table, [name for name in table.names if name in wanted])

    def _write_table(self, operation: str, relation: str, table: Table, names: List[str]) -> None:
        rows = table.rows()
        if names != table.names:
            places = [table.names.index(name) for name in names]
            rows = [[row[place] for place in places] for row in rows]
        listed = ", ".join(names)
        self.run(f"?[{listed}] <- $rows :{operation} {relation} {{{listed}}}", {"rows": rows})
