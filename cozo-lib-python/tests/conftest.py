import signal

import pytest
from cozo_embedded import CozoDbPy

import server

# A shell ignores Ctrl-C for what it starts in the background, and so would the tests.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def db():
    database = CozoDbPy("mem", "", "{}")
    yield database
    database.close()


@pytest.fixture
def run(db):
    """Runs a script and returns its rows."""
    return lambda script, params=None: db.run_script(script, params or {}, False)["rows"]


@pytest.fixture
def address(tmp_path):
    """The address of a server without data."""
    started = server.Server(tmp_path)
    yield started.address
    started.stop()


@pytest.fixture(scope="session")
def chromium():
    """A browser for the tests of the page; without one they fail."""
    from browser import start_chromium

    driver, started = start_chromium()
    yield started
    started.close()
    driver.stop()


@pytest.fixture
def desk(chromium, address):
    """The page of a server without data."""
    from browser import Desk

    opened = Desk(chromium, address, permissions=["clipboard-read", "clipboard-write"])
    yield opened
    opened.close()
