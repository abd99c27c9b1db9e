"""from_table: the published figures of a large job come out of its public timeline."""
import unittest

import rankscope
import support
import timelines
from support import SHARED, needs_shared


@needs_shared("timelines/trace-ST.parquet")
class Timelines(unittest.TestCase):
    def test_the_published_figures_of_a_pipeline_job_come_out(self):
        run = rankscope.from_table(timelines.table(SHARED / "timelines/trace-ST.parquet"), time_unit="s", start_of="step", blocking=True,
                                   equal_stages=True)
        what_if = run.report()["what_if"]
        self.assertEqual(what_if["steps"], 32)
        self.assertAlmostEqual(what_if["slowdown"] / 1.178702, 1, delta=0.01)
        slowdowns = what_if["rank_slowdowns"]
        self.assertAlmostEqual(max(slowdowns.values()) / 1.2323, 1, delta=0.01)
        self.assertEqual({rank for rank, slowdown in slowdowns.items() if slowdown > 1.1}, {"6", "7"})  # stage 3 of both pipelines
        self.assertEqual({slow.rank for slow in run.slow_ranks()}, {6, 7})


if __name__ == "__main__":
    support.main()
