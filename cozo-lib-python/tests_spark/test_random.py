"""Random programs, two answers: that of a database, and that of Spark."""

import json
import os

import cozo
from comparison import alike, relations_of

FILE = os.environ.get("COZO_PROGRAMS_FILE", "")


def programs():
    with open(FILE, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_programs_have_the_answers_of_a_database(spark):
    assert FILE, "COZO_PROGRAMS_FILE names no file of programs: run test-spark.sh"
    compared, complaints = 0, []
    for program in programs():
        with cozo.connect() as db:
            for script in program["setup"]:
                db.run(script)
            try:
                wanted = db.query(program["script"]).rows
            except cozo.Error:
                # What only the recursion binds, a negated group cannot wait for.
                continue
            try:
                with cozo.spark.run(spark, program["script"], relations_of(spark, db)) as answer:
                    found = answer.rows()
            except cozo.Error as error:
                if error.code != "spark::unsupported":
                    complaints.append(f"{error}\n{program}")
                continue
            compared += 1
            if not alike(found, wanted):
                complaints.append(f"Spark: {found}\ndatabase: {wanted}\n{program}")
    assert not complaints, "\n\n".join(complaints[:5])
    assert compared >= len(programs()) // 2, f"only {compared} were compared"
