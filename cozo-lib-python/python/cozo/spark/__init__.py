"""Scripts on Spark: the same rules over DataFrames, when data exceeds one machine.

>>> import cozo.spark
>>> answer = cozo.spark.run(spark, "?[to, count(from)] := *edge[from, to]", relations={"edge": edges})
>>> answer.show()

`run` gives an `Answer`, which is a DataFrame with ways back: `rows`, `to_cozo`. `explain` tells the stages. The
package needs `pyspark` 4 and `pyarrow`, and the executors need this package, too. `docs/spark.md` is the chapter
about it.
"""

from ._answer import Answer
from ._relations import Relation, from_cozo, from_partition
from ._run import explain, run

__all__ = ["Answer", "Relation", "explain", "from_cozo", "from_partition", "run"]
