"""Spark for the tests: one session of two threads for most, clusters of separate executors for others."""

import os
import pathlib
import sys

import pytest

# The reader of script cases is that of the other tests.
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))
os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable


def session(master, **settings):
    """A session; that of an earlier test must have been stopped."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("cozo tests")
    defaults = {
        "spark.driver.host": "localhost",
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for name, value in {**defaults, **settings}.items():
        builder = builder.config(name, value)
    started = builder.getOrCreate()
    started.sparkContext.setLogLevel("ERROR")
    return started


# The tests are of a few rows each: code made for a query would be compiled for longer than it runs.
QUICK = {
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


@pytest.fixture(scope="module")
def spark():
    """Two threads of this process."""
    started = session("local[2]", **QUICK)
    yield started
    started.stop()


@pytest.fixture(scope="module")
def cluster():
    """Two executors, each a process of its own, with the code that Spark makes for queries."""
    started = session("local-cluster[2,1,1024]", **{"spark.executor.memory": "1g"})
    yield started
    started.stop()


@pytest.fixture
def db():
    import cozo

    with cozo.connect() as opened:
        yield opened
