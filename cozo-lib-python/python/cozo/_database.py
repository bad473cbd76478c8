"""The database, and how one is opened."""

from __future__ import annotations

import asyncio
import json
import os
from typing import Any, Callable, Iterable, List, Mapping, Optional, Sequence, Union

from cozo_embedded import CozoDbPy

from . import _schema
from ._data import Table, table_of
from ._errors import refused, translated
from ._events import Change, Changes, Subscription, rule_of
from ._result import Result
from ._schema import Column, relation_name
from ._stream import Stream
from ._transaction import Transaction, columns_of
from ._writes import Writes, run

Path = Union[str, "os.PathLike[str]"]


def connect(path: Optional[Path] = None, *, engine: Optional[str] = None, **options: Any) -> Database:
    """Opens a database, or makes a new one.

    Without a path, or with `":memory:"`, it is in memory. A folder that RocksDB has made is opened with the engine
    `rocksdb`, and all else is a file of the engine `sqlite`; `engine` names another one. Options are those of the
    engine: `cache_mb`, `durability`, `read_only`, `query_memory_mb` and more.

    >>> with cozo.connect("app.db", durability="disk") as db:
    ...     db.create("note", [{"id": 1, "text": "hello"}], key="id")
    """
    place = "" if path is None else os.fspath(path)
    engine = engine or engine_of(place)
    place = "" if place == ":memory:" else place
    with translated():
        native = CozoDbPy(engine, place, json.dumps(options))
    return Database(native, engine, place or None)


def engine_of(path: str) -> str:
    """The engine of what is at a path."""
    if path in ("", ":memory:"):
        return "mem"
    return "rocksdb" if os.path.exists(os.path.join(path, "CURRENT")) else "sqlite"


class Database(Writes):
    """An open database. Threads may share it. `with` closes it at its end.

    >>> with cozo.connect() as db:
    ...     print(db.run("?[x] := x = $x", x=1).value())
    1
    """

    engine: str
    """`mem`, `sqlite` or `rocksdb`."""
    path: Optional[str]
    """Where it is; None in memory."""
    native: CozoDbPy
    """The database of the module `cozo_embedded` below."""

    def __init__(self, native: CozoDbPy, engine: str, path: Optional[str]) -> None:
        self.native, self.engine, self.path = native, engine, path
        self._is_open = True

    def run(self, script: str, parameters: Optional[Mapping[str, Any]] = None, /, **named: Any) -> Result:
        """Runs a script. `$name` in it is a parameter, given by its name or in a dict. A date or a datetime goes in
        as its seconds since the epoch; without a time zone it is UTC.

        >>> db.run("?[y] := y = $x + 1", x=1).value()
        2
        """
        return Result(run(self.native.run_script_arrow, script, parameters, named, False))

    def query(self, script: str, parameters: Optional[Mapping[str, Any]] = None, /, **named: Any) -> Result:
        """Runs a script that must not write: a write is an error.

        >>> db.query("?[name] := *person{name}").rows
        [('Ann',), ('Bea',)]
        """
        return Result(run(self.native.run_script_arrow, script, parameters, named, True))

    def stream(self, script: str, parameters: Optional[Mapping[str, Any]] = None, /, **named: Any) -> Stream:
        """`query` for a result that may be larger than memory: it is read in batches.

        >>> sum(x for x, in db.stream("?[x] := x in int_range(100000)"))
        4999950000
        """
        return Stream(run(self.native.run_script_stream, script, parameters, named, True))

    async def run_async(self, script: str, parameters: Optional[Mapping[str, Any]] = None, /, **named: Any) -> Result:
        """`run` on another thread, while the event loop goes on. A task that is cancelled does not stop the script:
        `:timeout` does.

        >>> async def main():
        ...     return (await db.run_async("?[x] := x = $x", x=1)).value()
        >>> asyncio.run(main())
        1
        """
        return await asyncio.to_thread(self.run, script, parameters, **named)

    async def query_async(self, script: str, parameters: Optional[Mapping[str, Any]] = None, /, **named: Any) -> Result:
        """`query` on another thread, while the event loop goes on."""
        return await asyncio.to_thread(self.query, script, parameters, **named)

    def explain(self, script: str, parameters: Optional[Mapping[str, Any]] = None, /, **named: Any) -> Result:
        """The plan of a query, which is not run.

        >>> plan = db.explain("?[name] := *person{name}")
        """
        return self.query("::explain {\n" + script + "\n}", parameters, **named)

    def plan(
        self,
        script: str,
        parameters: Optional[Mapping[str, Any]] = None,
        /,
        *,
        sizes: Optional[Mapping[str, Any]] = None,
        **named: Any,
    ) -> dict:
        """The plan of a script of one query after all passes, as `docs/design/plan-json.md` describes it; the script
        is not run. `sizes` has the sizes of relations whose rows are elsewhere.

        >>> db.plan("?[name] := *person{name}", sizes={"person": {"rows": 1e9, "distinct": {"name": 1e6}}})["version"]
        1
        """
        return json.loads(run(self.native.plan_json, script, parameters, named, json.dumps(dict(sizes or {}))))

    def create(
        self,
        relation: str,
        data: Any,
        key: Union[str, Sequence[str], None] = None,
        *,
        types: Optional[Mapping[str, str]] = None,
    ) -> None:
        """Makes a relation with the columns and rows of the data.

        `key` names the columns that tell rows apart; without it all do. Types are those of the values, nullable where
        one is missing, unless `types` says otherwise.

        >>> db.create("person", pandas.DataFrame({"name": ["Ann"], "age": [31]}), key="name")
        >>> db.columns("person")[1].type
        'Int'
        """
        types = dict(types or {})
        table = table_of(data, None, [name for name, kind in types.items() if kind.startswith("Validity")])
        keys = table.names if key is None else [key] if isinstance(key, str) else list(key)
        for name in [*keys, *types]:
            if name not in table.names:
                raise refused("no_column", f"the data has no column {name!r}", f"its columns are {', '.join(table.names)}")
        if not table.names:
            raise refused("bad_data", "the data has no columns", "pass a frame, or run ':create' with the columns")
        kinds = [types.get(name, kind) for name, kind in zip(table.names, table.types)]
        self._create(f":create {relation_name(relation)} {_schema.definition(table.names, kinds, keys)}", relation, table)

    def _create(self, create: str, relation: str, table: Table) -> None:
        if table.stream is None and table.count:
            self.run(f"?[{', '.join(table.names)}] <- $rows {create}", {"rows": table.rows()})
            return
        self.run(create)
        try:
            if table.count:
                with translated():
                    self.native.import_arrow(relation, table.stream)
        except BaseException:
            self.drop(relation)
            raise

    def _write_table(self, operation: str, relation: str, table: Table, names: List[str]) -> None:
        sign = {"put": "", "rm": "-"}.get(operation)
        if table.stream is None or sign is None or self._has_triggers(relation):
            super()._write_table(operation, relation, table, names)
            return
        with translated():
            self.native.import_arrow(sign + relation, table.stream)

    def _has_triggers(self, relation: str) -> bool:
        """Whether writes must be scripts, since a table of Arrow runs no triggers."""
        return len(self.query(f"::show_triggers {relation}")) > 0

    def relations(self) -> List[str]:
        """The names of the stored relations. `db.query("::relations")` tells more of them.

        >>> db.relations()
        ['person']
        """
        return self.query("::relations")["name"]

    def columns(self, relation: str) -> List[Column]:
        """The columns of a relation, keys first.

        >>> db.columns("person")[0]
        Column(name='name', type='String', is_key=True, has_default=False)
        """
        return columns_of(self.query(f"::columns {relation_name(relation)}"))

    def drop(self, *relations: str) -> None:
        """Removes relations with all of their rows.

        >>> db.drop("person")
        """
        if relations:
            self.run("::remove " + ", ".join(map(relation_name, relations)))

    def __getitem__(self, relation: str) -> Result:
        """All rows of a relation. Its tables have the declared types, also where there are no values.

        >>> db["person"].rows
        [('Ann', 31), ('Bea', 28)]
        """
        columns = self.columns(relation)
        listed = ", ".join(column.name for column in columns)
        result = self.query(f"?[{listed}] := *{relation}{{{listed}}}")
        return Result(result._native, [column.type for column in columns])

    def __contains__(self, relation: object) -> bool:
        return relation in self.relations()

    def transaction(self, write: bool = True) -> Transaction:
        """Begins a transaction over several scripts, which `with` commits, or aborts when its body raises.

        >>> with db.transaction() as tx:
        ...     tx.put("person", {"name": "Cid", "age": 45})
        ...     tx.remove("person", {"name": "Ann"})
        """
        with translated():
            return Transaction(self, self.native.multi_transact(write))

    def rule(self, name: str, columns: int) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Makes a function a fixed rule, which gives rows of so many values. It gets each input as a list of rows,
        and the options of the call by name.

        >>> @db.rule("Oldest", columns=2)
        ... def oldest(people, n=1):
        ...     return sorted(people, key=lambda row: -row[1])[:n]
        >>> db.run("?[name, age] <~ Oldest(*person[], n: 1)").rows
        [('Ann', 31)]
        """

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            with translated():
                self.native.register_fixed_rule(name, columns, rule_of(function, columns))
            return function

        return register

    def on_change(self, relation: str, callback: Callable[[Change], Any]) -> Subscription:
        """Calls a function after each commit that changed a relation, on a thread of its own, until `stop` of what it
        gives is called.

        >>> subscription = db.on_change("person", lambda change: print(change.kind, change.new))
        """
        return Subscription(self.native, relation_name(relation), callback)

    def changes(self, relation: str, after: Optional[str] = None) -> Changes:
        """The changes of a relation by all processes of the shared log: those after the position of a change, or from now
        on.

        >>> shared = cozo.connect(shared="app.log")
        >>> position = shared.changes("person").position
        >>> shared.create("person", [{"name": "Ann"}], key="name")
        >>> with shared.changes("person", after=position) as changes:
        ...     changes.next(timeout=60).new
        [['Ann']]
        """
        return Changes(self.native, relation_name(relation), after)

    def backup(self, path: Path) -> None:
        """Writes everything, as of one moment, into a new file.

        >>> db.backup("monday.backup")
        """
        with translated():
            self.native.backup(path)

    def restore(self, path: Path, relations: Optional[Iterable[str]] = None) -> None:
        """Fills an empty database from a backup, or puts the rows of some of its relations into those of the same names.

        >>> db.backup("tuesday.backup")
        >>> with cozo.connect("copy.db") as copy:
        ...     copy.restore("tuesday.backup")
        """
        with translated():
            if relations is None:
                self.native.restore(path)
            else:
                self.native.import_from_backup(path, list(relations))

    def close(self) -> None:
        """Stops the scripts that run, and lets go of the file. A second call does nothing."""
        self._is_open = False
        with translated():
            self.native.close()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        place = self.path or "in memory"
        return f"<cozo.Database {self.engine} {place}{'' if self._is_open else ', closed'}>"
