"""The cozo database inside a Python process: a relational-graph database queried with CozoScript.

>>> import cozo
>>> db = cozo.connect()
>>> db.create("person", [{"name": "Ann", "age": 31}, {"name": "Bea", "age": 28}], key="name")
>>> db.run("?[name] := *person{name, age}, age < $limit", limit=30).value()
'Bea'

`connect` opens a database. `Database.run` gives a `Result`, which turns into rows, dicts, and tables of pandas,
polars and pyarrow. Everything that goes wrong in the database is an `Error`.
"""

from cozo_embedded import __version__

from ._database import Database, connect
from ._errors import Error
from ._events import Change, Changes, SharedChange, Subscription
from ._result import Result
from ._schema import Column
from ._stream import Stream
from ._transaction import Transaction

__all__ = [
    "Change",
    "Changes",
    "Column",
    "Database",
    "Error",
    "Result",
    "SharedChange",
    "Stream",
    "Subscription",
    "Transaction",
    "__version__",
    "connect",
]
