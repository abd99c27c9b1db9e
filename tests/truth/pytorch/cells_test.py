#!/usr/bin/env python3
"""The judge of tests/truth/pytorch: it must refuse what is wrong."""
import unittest

import cells

CLEAN = cells.Cell("ddp", "none", 2)
SLOW = cells.Cell("ddp", "sleep", 2)
MS = 1_000_000
CLOCKS = [[0, 100 * MS, 200 * MS], [0, 140 * MS, 240 * MS]]  # rank 1 is 40 ms late from the second step on


def slow(rank=1, kind="host", function="Fault.work"):
    return {"rank": rank, "kind": kind, "code": {"function": function, "file": "faults.py", "line": 50}}


def report(stragglers, waits=(40 * MS, 0), matched=10, links=()):
    return {"steps": [{"complete": True, "warm_up": False}] * 2, "stragglers": stragglers,
            "findings": [{"id": "slow_tcp_link", "rank": rank} for rank in links], "collectives": {"matched": matched},
           "ranks": [{"rank": rank, "wait_ns": 2 * wait} for rank, wait in enumerate(waits)]}


class Judge(unittest.TestCase):
    def test_accepts_the_rank_its_cause_and_the_waits(self):
        self.assertIsNone(cells.judge(SLOW, report([slow()]), CLOCKS))

    def test_refuses_another_rank_or_cause_or_nobody(self):
        for row in (slow(rank=0), slow(kind="compute")):
            self.assertIn("stragglers", cells.judge(SLOW, report([row]), CLOCKS))
        self.assertIn("stragglers", cells.judge(SLOW, report([]), CLOCKS))

    def test_refuses_another_function_or_none(self):
        self.assertIn("main", cells.judge(SLOW, report([slow(function="main")]), CLOCKS))
        self.assertIn("no function", cells.judge(SLOW, report([{"rank": 1, "kind": "host"}]), CLOCKS))

    def test_refuses_a_name_in_a_clean_run(self):
        self.assertIn("stragglers", cells.judge(CLEAN, report([slow()]), CLOCKS))

    def test_accepts_the_rank_whose_connection_is_slow_and_refuses_others(self):
        link = cells.Cell("ddp", "link", 2)
        self.assertIsNone(cells.judge(link, report([], links=[1]), CLOCKS))
        self.assertIn("slow connections", cells.judge(link, report([], links=[0]), CLOCKS))
        self.assertIn("slow connections", cells.judge(link, report([]), CLOCKS))
        self.assertIn("slow connections", cells.judge(CLEAN, report([], links=[1]), CLOCKS))

    def test_refuses_waits_that_the_clocks_did_not_see(self):
        for wait in (35 * MS, 45 * MS, 0):
            self.assertIn("by its own clock 40.0 ms", cells.judge(SLOW, report([slow()], (wait, 0)), CLOCKS))

    def test_lets_a_program_that_meets_often_wait_longer_but_not_shorter(self):
        often, row = cells.Cell("fsdp", "sleep", 2), [slow()]
        self.assertIsNone(cells.judge(often, report(row, (50 * MS, 0)), CLOCKS))
        self.assertIn("waits 30.0 ms", cells.judge(often, report(row, (30 * MS, 0)), CLOCKS))

    def test_refuses_runs_without_collectives(self):
        self.assertEqual(cells.judge(CLEAN, report([], matched=0), CLOCKS), "no collective was matched")

    def test_counts_a_run_in_which_nothing_can_be_told_as_missed(self):
        blind = {**report([]), "straggler_basis": {"cannot_tell": "too noisy"}}
        self.assertEqual(cells.judge(SLOW, blind, CLOCKS), "cannot tell")
        self.assertIsNone(cells.judge(CLEAN, blind, CLOCKS))


if __name__ == "__main__":
    unittest.main()
