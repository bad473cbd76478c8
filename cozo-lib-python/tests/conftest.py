import pytest
from cozo_embedded import CozoDbPy


@pytest.fixture
def db():
    database = CozoDbPy("mem", "", "{}")
    yield database
    database.close()


@pytest.fixture
def run(db):
    """Runs a script and returns its rows."""
    return lambda script, params=None: db.run_script(script, params or {}, False)["rows"]
