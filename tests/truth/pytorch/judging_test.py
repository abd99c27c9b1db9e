#!/usr/bin/env python3
"""The judge of tests/truth/pytorch: it must refuse what is wrong."""
import unittest

import cells
from judging import CANNOT_TELL, HIT, NAMED, NOBODY, NO_VERDICT, OTHER_CAUSE, OTHER_RANK, failed, judge
from scenes import CLEAN, LATE, SLOW, report, slow


class Judge(unittest.TestCase):
    def names(self, cell, *arguments, **named):
        return judge(cell, report(*arguments, **named), LATE).names

    def test_accepts_the_rank_its_cause_the_function_and_the_waits(self):
        verdict = judge(SLOW, report([slow()]), LATE)
        self.assertEqual((verdict.names, verdict.function, verdict.waits, verdict.problems(SLOW)), (NAMED, HIT, HIT, []))
        self.assertEqual(verdict.compared, [[40, 40], [0, 0]])

    def test_tells_another_rank_another_cause_and_nobody_apart(self):
        self.assertEqual(self.names(SLOW, [slow(rank=0)]), OTHER_RANK)
        self.assertEqual(self.names(SLOW, [slow(), slow(rank=0)]), OTHER_RANK)
        self.assertEqual(self.names(SLOW, [slow(kind="compute")]), OTHER_CAUSE)
        self.assertEqual(self.names(SLOW, []), NOBODY)
        for rows in ([slow(rank=0)], [slow(kind="compute")], []):
            self.assertTrue(judge(SLOW, report(rows), LATE).problems(SLOW))

    def test_refuses_another_function_or_none(self):
        self.assertIn("function: main", judge(SLOW, report([slow(function="main")]), LATE).problems(SLOW)[0])
        self.assertEqual(judge(SLOW, report([{"rank": 1, "kind": "host"}]), LATE).problems(SLOW), ["no function is named"])

    def test_asks_traces_of_the_profiler_and_clean_runs_for_no_function(self):
        traced = cells.Cell("ddp", "sleep", 2, "kineto3")
        self.assertEqual(judge(traced, report([{"rank": 1, "kind": "host"}]), LATE).function, "")
        self.assertEqual(judge(CLEAN, report(), LATE).function, "")

    def test_refuses_a_name_in_a_clean_run(self):
        self.assertEqual(self.names(CLEAN), NOBODY)
        self.assertEqual(self.names(CLEAN, [slow()]), OTHER_RANK)
        self.assertEqual(self.names(CLEAN, links=[1]), OTHER_RANK)
        self.assertEqual(self.names(CLEAN, findings=[{"id": "unequal.step_time", "rank": 1}]), OTHER_RANK)

    def test_refuses_a_name_in_a_clean_run_even_if_no_collective_was_matched(self):
        self.assertEqual(self.names(CLEAN, [slow()], matched=0), OTHER_RANK)

    def test_keeps_other_findings_about_a_rank_of_a_clean_run(self):
        verdict = judge(CLEAN, report(findings=[{"id": "step_time.odd", "rank": 1}, {"id": "idle"}]), LATE)
        self.assertEqual((verdict.names, verdict.mentioned), (NOBODY, ["step_time.odd of rank 1"]))

    def test_accepts_the_rank_whose_connection_is_slow_and_refuses_others(self):
        link = cells.Cell("ddp", "link", 2)
        self.assertEqual(self.names(link, links=[1]), NAMED)
        self.assertEqual(self.names(link, links=[0]), OTHER_RANK)
        self.assertEqual(self.names(link, [slow()], links=[1]), OTHER_CAUSE)
        self.assertEqual(self.names(link), NOBODY)
        self.assertEqual(self.names(SLOW, [slow()], links=[1]), OTHER_CAUSE)

    def test_has_no_verdict_without_collectives_or_without_the_comparison_of_ranks(self):
        self.assertEqual(self.names(CLEAN, matched=0), NO_VERDICT)
        verdict = judge(SLOW, {**report(), "stragglers": {"unavailable": "no steps"}}, LATE)
        self.assertEqual((verdict.names, verdict.said), (NO_VERDICT, "stragglers: no steps"))

    def test_judges_a_report_whose_parts_are_unavailable(self):
        nothing = {"unavailable": "no steps"}
        empty = {**report(), "stragglers": nothing, "findings": nothing, "steps": nothing, "ranks": nothing, "collectives": nothing}
        self.assertEqual(judge(SLOW, empty, LATE).problems(SLOW), ["no verdict: stragglers: no steps", "the report has no waits of steps"])

    def test_counts_a_run_with_a_fault_that_cannot_be_judged_as_missed(self):
        verdict = judge(SLOW, report(doubt="too noisy"), LATE)
        self.assertEqual((verdict.names, verdict.problems(SLOW)), (CANNOT_TELL, ["cannot tell: too noisy"]))

    def test_counts_a_clean_run_that_cannot_be_judged_neither_as_right_nor_as_missed(self):
        verdict = judge(CLEAN, report(doubt="too noisy"), LATE)
        self.assertEqual((verdict.names, verdict.problems(CLEAN)), (CANNOT_TELL, []))

    def test_compares_the_waits_of_a_run_that_cannot_be_judged(self):
        for cell in (CLEAN, SLOW):
            self.assertIn("waits 80.0 ms", judge(cell, report(waits=(80, 0), doubt="too noisy"), LATE).problems(cell)[-1])

    def test_counts_a_run_that_failed_as_missed_with_a_fault_and_without(self):
        for cell in (CLEAN, SLOW):
            self.assertEqual(failed("the program ended with 1").problems(cell), ["no verdict: the program ended with 1"])


if __name__ == "__main__":
    unittest.main()
