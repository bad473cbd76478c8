"""The cozo database, embedded."""

from os import PathLike
from typing import Any, Callable, Dict, List, Mapping, Optional, Protocol, Sequence, Set, Tuple, TypedDict, Union

__version__: str

class NamedRows(TypedDict):
    headers: List[str]
    rows: List[List[Any]]
    next: Optional["NamedRows"]
    # There is also a key `warnings`, a list of str, where the script probably does not mean what it says.

class ArrowTable(Protocol):
    """Anything with Arrow's PyCapsule interface: tables of pyarrow, polars, pandas from 2.2 on, relations of DuckDB."""

    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

class ArrowResult:
    """A result as one Arrow table, which pyarrow, pandas, polars, DuckDB and others read as it stands."""

    @property
    def num_rows(self) -> int:
        """The number of rows."""
    @property
    def column_names(self) -> List[str]:
        """The names of the columns, in order."""
    @property
    def next(self) -> Optional["ArrowResult"]:
        """A further result, where a script returns several."""
    @property
    def warnings(self) -> List[str]:
        """What the script probably does not mean, in words."""
    def rows(self) -> List[Tuple[Any, ...]]:
        """The rows as tuples of the objects that `run_script` gives."""
    def __len__(self) -> int: ...
    def __arrow_c_schema__(self) -> object:
        """The columns' names and types, as a capsule of Arrow's C data interface."""
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        """The table, as a capsule of Arrow's C stream interface; `requested_schema` changes nothing."""

class ResultStream:
    """A result that is read in batches, as often as asked for. What exceeds the memory of its query is on disk until the
    object goes.
    """

    @property
    def column_names(self) -> List[str]:
        """The names of the columns, in order."""
    @property
    def warnings(self) -> List[str]:
        """What the script probably does not mean, in words."""
    def batches(self) -> "RowBatches":
        """Lists of rows, some thousand each, from the first row on."""
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object:
        """The rows from the first on, as a capsule of Arrow's C stream interface, in batches of some thousand rows. Reads
        all rows once before, to find the types. `requested_schema` changes nothing.
        """

class RowBatches:
    """What `ResultStream.batches` gives."""

    def __iter__(self) -> "RowBatches": ...
    def __next__(self) -> List[Tuple[Any, ...]]: ...

class PortableRows:
    """Tests, assignments and lists of an exported plan, which run on each row by itself: see docs/design/plan-json.md."""

    def __init__(self, operators: str) -> None: ...
    def run(self, data: Union[ArrowTable, ArrowResult]) -> ArrowResult:
        """The rows that are left of an Arrow table, or of a result, whose columns are the inputs in their order."""

class PortableGroups:
    """Aggregations of an exported plan. The rows come sorted by their grouping columns."""

    def __init__(self, columns: str) -> None: ...
    def take(self, data: ArrowTable) -> Optional[ArrowResult]:
        """Takes an Arrow table. Gives the groups that are complete, if there are many."""
    def finish(self) -> ArrowResult:
        """All groups that are left. Without grouping columns there is one group, even if there were no rows."""

def encode_value(value: Any) -> bytes:
    """The bytes by which other engines know a value: equal bytes are identical values, and bytes sort as values do."""

def decode_value(encoded: bytes) -> Any:
    """The value of the bytes that `encode_value` gives."""

class SharedChanges:
    """The changes of a relation by all processes of a shared log."""

    def next(self, seconds: Optional[float]) -> Optional[Tuple[str, str, List[List[Any]], List[List[Any]]]]:
        """A position, `'Put'` or `'Rm'`, the rows that are new, and those before; `None` if none comes in time."""
    @property
    def position(self) -> str:
        """From where to go on."""
    def close(self) -> None: ...

class CozoDbPy:
    """A database. Threads may share it, and their scripts run at the same time.

    Every error is an Exception, or a TypeError for an argument of a wrong type, whose only argument is a dict with `message`,
    `display`, `labels`, `code` and `help`. `str` of the exception is a report with the message, the line of the script
    and the help.
    """

    def __new__(cls, engine: str, path: Union[str, "PathLike[str]"], options: str) -> "CozoDbPy":
        """Opens a database; `options` is the text of a JSON object."""
    def run_script(self, query: str, params: Dict[str, Any], immutable: bool) -> NamedRows:
        """Runs a script.

        Ctrl-C on the main thread stops this script, unless it was quick before: then it waits for its end. A fixed rule in
        Python is not waited for.
        """
    def run_script_arrow(self, query: str, params: Dict[str, Any], immutable: bool) -> ArrowResult:
        """Like `run_script`, with the result as an Arrow table, for which no object is made for a value.

        Types follow what a column holds: Int is int64, Float (and Int among Floats, if it loses no digit) float64, Bool
        bool, String utf8, Bytes binary, Uuid utf8, vectors of one width and length fixed_size_list of float32 or float64.
        Lists, objects, validities and mixtures are utf8 with JSON, of the extension type arrow.json. A column without any
        value has the type null.
        """
    def plan_json(self, query: str, params: Mapping[str, Any], sizes: str) -> str:
        """The plan of a script as the text of a JSON object; the script is not run. `sizes` is the text of a JSON object with
        sizes of relations.
        """
    def run_script_stream(self, query: str, params: Dict[str, Any], immutable: bool) -> ResultStream:
        """Like `run_script`, with a result (of several the first) that is read in batches, and is not in memory as a whole
        if it exceeds that of its query.
        """
    def import_arrow(self, relation: str, data: ArrowTable) -> None:
        """Puts the rows of an Arrow table into a relation, or removes them where its name begins with '-': all of them or
        none. Columns are found by name; others are left aside.
        """
    def export_relations(self, relations: Sequence[str]) -> Dict[str, NamedRows]:
        """The contents of relations, all as of one moment."""
    def import_relations(self, data: Dict[str, Mapping[str, Any]]) -> None:
        """Puts rows into relations, or removes them where the name begins with '-'; all of them or none."""
    def backup(self, path: Union[str, "PathLike[str]"]) -> None: ...
    def restore(self, path: Union[str, "PathLike[str]"]) -> None: ...
    def import_from_backup(self, in_file: Union[str, "PathLike[str]"], relations: Sequence[str]) -> None: ...
    def register_callback(self, rel: str, callback: Callable[[str, List[List[Any]], List[List[Any]]], Any]) -> int:
        """Calls a function after every commit that changed a relation, on a thread of its own: with 'Put' or 'Rm', the
        rows that are new (or the keys to be removed), and the rows that were there before.
        """
    def unregister_callback(self, id: int) -> bool:
        """Ends what `register_callback` began; whether there was such a callback."""
    def shared_changes(self, rel: str, after: Optional[str]) -> SharedChanges:
        """The changes after a position, or from now on."""
    def register_fixed_rule(
        self, name: str, arity: int, callback: Callable[[List[List[List[Any]]], Dict[str, Any]], Sequence[Sequence[Any]]]
    ) -> None:
        """Adds a fixed rule: `callback(inputs, options)` gets a list of rows for each input and the options as a dict,
        and gives rows of `arity` values. What it raises fails the query. It runs on a thread of its own; when the query is
        stopped, it gets a SystemExit with its next instruction.
        """
    def unregister_fixed_rule(self, name: str) -> bool:
        """Takes such a fixed rule away; whether there was one."""
    def multi_transact(self, write: bool) -> "CozoDbMulTx":
        """Begins a transaction that spans several scripts."""
    def close(self) -> bool:
        """Stops the scripts that run and lets go of the database. True the first time.

        In a process that was forked from the one that opened the database, only forgets it.
        """

class CozoDbMulTx:
    """A transaction that spans several scripts. Letting go of it undoes everything."""

    def run_script(self, query: str, params: Dict[str, Any]) -> NamedRows:
        """Runs a single query. If it fails, it leaves no trace, and the transaction goes on."""
    def run_script_arrow(self, query: str, params: Dict[str, Any]) -> ArrowResult:
        """Like `run_script`, with the result as an Arrow table."""
    def commit(self) -> None:
        """Makes the writes lasting. The code of an exception says why not: `transact::conflict` asks to run it again."""
    def abort(self) -> None:
        """Undoes everything."""

def eval_expressions(expr: str, params: Dict[str, Any], bindings: Dict[str, Any]) -> Any:
    """The value of an expression; `params` are its `$` parameters, `bindings` its variables."""

def variables(expr: str, params: Dict[str, Any]) -> Set[str]:
    """The names of the variables in an expression."""
