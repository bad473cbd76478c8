"""Scripts run twice: by a database, and by Spark over the relations of that database."""

import math

import cozo
import cozo.spark


def relations_of(spark, db):
    """The relations of a database as those of Spark. Rules that the answer does not need may name some, too."""
    names = [name for name in db.relations() if ":" not in name]
    return cozo.spark.from_cozo(spark, db, names)


def on_spark(spark, db, script, parameters=None, **options):
    """The rows that Spark gives."""
    relations = relations_of(spark, db)
    with cozo.spark.run(spark, script, relations, parameters, **options) as answer:
        return answer.rows()


def check(spark, db, script, parameters=None, tolerance=None, **options):
    """Both must give the same rows; these rows."""
    wanted = db.query(script, parameters or {}).rows
    found = on_spark(spark, db, script, parameters, **options)
    assert alike(found, wanted, tolerance), f"{script}\nSpark:    {found[:20]}\ndatabase: {wanted[:20]}"
    return wanted


def alike(found, wanted, tolerance=None):
    """Whether values are the same, floats within a relative tolerance if there is one."""
    if isinstance(found, (list, tuple)) and isinstance(wanted, (list, tuple)):
        return len(found) == len(wanted) and all(alike(a, b, tolerance) for a, b in zip(found, wanted))
    if isinstance(found, float) and isinstance(wanted, float):
        if math.isnan(found) or math.isnan(wanted):
            return math.isnan(found) and math.isnan(wanted)
        return found == wanted if tolerance is None else math.isclose(found, wanted, rel_tol=tolerance)
    return type(found) is type(wanted) and found == wanted
