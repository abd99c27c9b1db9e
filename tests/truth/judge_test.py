#!/usr/bin/env python3
"""The judge of scripts/truth: what it accepts, and that it does not accept anything else."""
import unittest

import cases
import judge
import measure

SLOW = cases.Case("slow", 4, "slow:rank=2,factor=1.5", (2, "compute", "persistent"), factor=1.5)
OF_TWO = cases.Case("slow", 2, "slow:rank=1,factor=1.5", (1, "compute", "persistent"), factor=1.5)
LOST = cases.Case("kill", 4, "kill:rank=1,step=5", lost=(1, 5))


def row(rank=2, kind="compute", slowdown=1.5, certainty="fact"):
    return {"rank": rank, "kind": kind, "persistence": "persistent", "slowdown": slowdown, "certainty": certainty}


def report(*stragglers, findings=()):
    steps = [{"begin_ns": 0, "end_ns": 100, "complete": True, "warm_up": False}]
    ranks = [{"rank": rank, "compute_ns": 80, "window_ns": 100, "exposed_comm_ns": 0, "idle_causes": {"sync": 0}}
             for rank in range(4)]
    return {"stragglers": list(stragglers), "findings": list(findings), "steps": steps, "ranks": ranks}


class Judge(unittest.TestCase):
    def test_accepts_exactly_the_row_that_was_injected(self):
        self.assertIsNone(judge.judge(SLOW, report(row()), 1.5))
        self.assertIsNone(judge.judge(cases.Case("clean", 4), report(), None))

    def test_refuses_another_rank_kind_or_size(self):
        for wrong in (row(rank=1), row(kind="host"), row(slowdown=1.56), row(slowdown=1.44)):
            self.assertIsNotNone(judge.judge(SLOW, report(wrong), 1.5), wrong)

    def test_refuses_rows_too_many_and_too_few(self):
        self.assertIsNotNone(judge.judge(SLOW, report(), 1.5))
        self.assertIsNotNone(judge.judge(SLOW, report(row(), row(rank=0)), 1.5))
        self.assertIsNotNone(judge.judge(cases.Case("clean", 4), report(row()), None))

    def test_refuses_a_size_that_nothing_is_compared_with(self):
        self.assertIsNotNone(judge.judge(SLOW, report(row()), None))

    def test_of_two_ranks_small_faults_may_be_missed_but_not_mistaken(self):
        self.assertIsNone(judge.judge(OF_TWO, report(), 1.2))
        self.assertIsNotNone(judge.judge(OF_TWO, report(row(rank=0, slowdown=1.2, certainty="of_two")), 1.2))
        self.assertIsNotNone(judge.judge(OF_TWO, report(), 1.5))
        self.assertIsNotNone(judge.judge(OF_TWO, report(row(rank=1)), 1.5), "it must be marked of_two")
        self.assertIsNone(judge.judge(OF_TWO, report(row(rank=1, certainty="of_two")), 1.5))

    def test_a_lost_rank_must_be_named_with_its_step(self):
        lost = {"id": "rank_lost", "rank": 1, "step": 5}
        self.assertIsNone(judge.judge(LOST, report(findings=[lost]), None))
        self.assertIsNotNone(judge.judge(LOST, report(findings=[{**lost, "step": 4}]), None))
        self.assertIsNotNone(judge.judge(LOST, report(), None))

    def test_expects_what_fault_and_clean_runs_make(self):
        self.assertAlmostEqual(judge.expected_slowdown(SLOW, [report()]), 1 + 0.5 * 80 / 100)
        late = cases.Case("data", 4, "data:rank=1,ms=30", (1, "data", "persistent"), delay_ms=50e-6)
        self.assertAlmostEqual(judge.expected_slowdown(late, [report()]), 1.5)

    def test_predictions_are_compared_with_clean_steps(self):
        measured = measure.Measured(SLOW, report=report(row()), predicted_ns=105)
        self.assertAlmostEqual(judge.prediction_error(measured, [report()]), 0.05)


if __name__ == "__main__":
    unittest.main()
