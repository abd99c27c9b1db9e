"""rankscope: which rank, operation, link or schedule makes a training step slow, and why.

    import rankscope
    run = rankscope.open("traces/")          # a recording, or traces of torch.profiler or Nsight Systems
    print(run.verdict())
    run.table("rank_steps").to_pandas()

docs/python.md explains the package.
"""

from . import annotate, torch
from ._answer import Answer
from ._errors import CannotTellError, CannotWriteError, Error, UnreadableError, UsageError
from ._findings import Finding, SlowRank, Verdict
from ._from_table import from_table
from ._record import record
from ._run import Run, open
from ._table import Table, tables
from ._version import __version__

__all__ = ["Answer", "CannotTellError", "CannotWriteError", "Error", "Finding", "Run", "SlowRank", "Table", "UnreadableError",
           "UsageError", "Verdict", "__version__", "annotate", "from_table", "open", "record", "tables", "torch"]
