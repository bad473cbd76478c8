"""The entry: a script over relations of Spark."""

from __future__ import annotations

from typing import Any, Mapping, Optional

from ._answer import Answer, arranged
from ._errors import translated_tasks
from ._loop import OnRound
from ._plan import Declared
from ._program import CHECKPOINT_ROUNDS, Program, Settings
from ._relations import Stored
from ._write import write

SHUFFLE_PARTITIONS = "spark.sql.shuffle.partitions"


def run(
    spark: Any,
    script: str,
    relations: Optional[Mapping[str, Any]] = None,
    parameters: Optional[Mapping[str, Any]] = None,
    *,
    target: Optional[str] = None,
    partitions: Optional[int] = None,
    checkpoint_rounds: int = CHECKPOINT_ROUNDS,
    on_round: Optional[OnRound] = None,
) -> Answer:
    """Runs a script of one query on a cluster, with the meaning that it has in a database.

    `relations` has the stored relations by name: a DataFrame, the path of a folder of Parquet or of a table of
    Delta, or a `Relation`. `parameters` are those of the script. A script with `:put`, `:create` or `:replace`
    writes a new version of the table at the path `target`. Recursion runs in rounds: after each of them `on_round`
    is called with its number and the number of new rows of each table, and after `checkpoint_rounds` of them the
    rows are stored without their lineage. `partitions` is the number of partitions of tables that recursion makes
    grow, by default that of the session's shuffles.

    Raises `cozo.Error`: as a database does for a wrong script, and with the code `spark::unsupported` for what does
    not run on Spark, in both cases before anything starts.

    >>> script = "path[x, y] := *edge[x, y]  path[x, y] := path[x, z], *edge[z, y]  ?[y] := path[$from, y]"
    >>> answer = cozo.spark.run(spark, script,
    ...                         relations={"edge": edges}, parameters={"from": 1})
    >>> answer.write.parquet("s3a://lake/reachable")
    """
    stored = {name: Stored(spark, name, relation) for name, relation in (relations or {}).items()}
    declared = Declared(script, stored, parameters or {})
    shuffles = int(spark.conf.get(SHUFFLE_PARTITIONS))
    settings = Settings(partitions or shuffles, checkpoint_rounds, on_round)
    program = Program(spark, declared, stored, settings)
    try:
        with translated_tasks():
            if "entry" not in declared.plan:
                return write(program, None, target)
            table, is_sorted = arranged(program.answer(), declared.plan["options"])
            if declared.plan.get("write"):
                return write(program, table, target)
            return Answer(program, table, declared.plan["headers"], is_sorted)
    except BaseException:
        program.close()
        raise


def explain(
    script: str,
    relations: Optional[Mapping[str, Any]] = None,
    parameters: Optional[Mapping[str, Any]] = None,
    *,
    spark: Any = None,
) -> str:
    """The stages of a script in words: the components in their order, and for each rule its joins, tests and
    computed values. What the evaluator computes is marked. Nothing runs.

    >>> print(cozo.spark.explain("?[y] := *edge[1, y]", {"edge": edges}))
    """
    stored = {name: Stored(spark, name, relation) for name, relation in (relations or {}).items()}
    declared = Declared(script, stored, parameters or {})
    from ._explain import stages

    return "\n".join(stages(declared.plan))
