"""The script cases of `conformance/` on Spark: each query that only reads, and that a database answers, has the
same answer there."""

import cozo
import cozo.spark
import corpus
import pytest
from comparison import alike, relations_of

AREAS = [
    "aggr",
    "algo_graph",
    "daily",
    "evaluation",
    "fn_list",
    "literals",
    "meaning",
    "recursion",
    "rules",
    "stored",
    "types",
]
"""Those with more than expressions, about what Spark runs."""


KNOWN = {
    "conjunctions_are_tested_part_by_part": "a database does not read the rows for which the test fails",
    "joins_give_rows_in_their_order": "of 1 and 1.0 the greatest is the first in an order of rows",
}
"""Cases in which Spark may differ, as docs/spark.md says."""


class Counts:
    """How many queries were compared, and refused."""

    def __init__(self):
        self.compared, self.refused = 0, []


def run_case(spark, steps, folder, counts):
    """Runs the steps of a case; complaints about answers."""
    complaints = []
    with cozo.connect() as db:
        for step in steps:
            script = step["script"].replace("{{TMP}}", str(folder))
            parameters = corpus.decode(step.get("params", {}))
            if "op" in step:
                return complaints
            try:
                wanted = db.run(script, parameters)
            except cozo.Error:
                continue
            try:
                plan = db.plan(script, parameters)
            except cozo.Error:
                continue
            if plan.get("write") or "entry" not in plan:
                continue
            options = plan["options"]
            if options["limit"] is not None and not options["order"]:
                # Any so many rows of the answer do.
                step = {**step, "count": True}
            complaint = compare(spark, db, script, parameters, wanted, step, counts)
            if complaint:
                complaints.append(f"{script}\n{complaint}")
    return complaints


def compare(spark, db, script, parameters, wanted, step, counts):
    try:
        with cozo.spark.run(spark, script, relations_of(spark, db), parameters) as answer:
            found = {"headers": answer.headers, "rows": [list(row) for row in answer.rows()]}
    except cozo.Error as error:
        if error.code != "spark::unsupported":
            return str(error)
        counts.refused.append(str(error).splitlines()[0])
        return None
    counts.compared += 1
    rows = [list(row) for row in wanted.rows]
    if alike(found["rows"], rows, 1e-9):
        return None
    # A limit without an order may leave other rows; some answers are random.
    return corpus.difference({**step, "expected": {"headers": wanted.columns, "rows": corpus.encode(rows)}}, found)


def check_areas(spark, areas, folder, least):
    counts, complaints = Counts(), []
    for area in areas:
        for name, steps in corpus.load(area):
            found = run_case(spark, steps, folder, counts)
            complaints += [f"--- {area}/{name}\n{complaint}" for complaint in found if name not in KNOWN]
    print(f"{counts.compared} compared, {len(counts.refused)} refused")
    assert not complaints, "\n\n".join(complaints[:20])
    assert counts.compared >= least, f"only {counts.compared} were compared; refused: {counts.refused[:20]}"


@pytest.mark.parametrize("area", AREAS)
def test_area(spark, area, tmp_path):
    check_areas(spark, [area], tmp_path, 1)
