#!/usr/bin/env python3
"""The page of evidence says no more than was measured."""
import unittest

import cells
from judging import CANNOT_TELL, HIT, NAMED, NOBODY, NO_VERDICT, OTHER_CAUSE, OTHER_RANK, Verdict
from kept import Kept, Run
from page import Page
from scenes import CLEAN, SLOW

TRACED = cells.Cell("ddp", "sleep", 2, "kineto3")
OFTEN = cells.Cell("fsdp", "sleep", 2)


def page(goals, *runs):
    """`runs`: (cell, verdict, and other fields of a Run)."""
    kept = Kept()
    kept.runs = [Run(cell.name, "abc1234", verdict, **{"how": "40 steps", **rest[0]} if rest else {"how": "40 steps"}) for cell, verdict, *rest in runs]
    return Page(goals, kept).text("2026-01-01")


def hit(compared=(40.0, 40.0)):
    return Verdict(NAMED, function=HIT, waits=HIT, compared=[list(compared)])


class ThePage(unittest.TestCase):
    def assert_says(self, text, *lines):
        for line in lines:
            self.assertIn(line, text)

    def test_says_at_which_commits_and_how_it_was_measured(self):
        self.assert_says(page({SLOW: 2}, (SLOW, hit()), (SLOW, hit())), "at commit abc1234 (2 runs); with 40 steps (2 runs)", "\n\nRuns made: 2 of 2. Complete cells: 1 of 1.\n")

    def test_says_what_is_missing(self):
        text = page({SLOW: 3, CLEAN: 20}, (SLOW, hit()))
        self.assert_says(text, "**Not complete.** Runs made: 1 of 23. Complete cells: 0 of 2.", "the others are not on this page",
                         "| live: runs of each cell with a fault | 3 or more | 1 | **no** |", "clean runs of each program and number of ranks | 20 or more | 0 | **no** |",
                         "| live, clean: a rank named | none | 0 of 0; 0 cannot tell, 0 without a verdict | no runs |")

    def test_counts_what_cannot_be_told_with_a_fault_as_missed(self):
        text = page({SLOW: 4}, *[(SLOW, hit())] * 3, (SLOW, Verdict(CANNOT_TELL, "too noisy", "no function is named", HIT)))
        self.assert_says(text, "rank and cause named | 95 % or more | 3 of 4 (75.0 %) | **no** |", "the function named | 90 % or more | 3 of 4 (75.0 %) | **no** |",
                         "| ddp | sleep | 2 | live | 3 of 4 | 1 | 0 | 0 | 0 | 0 | 3 of 4 |", "- ddp:sleep:2: 1 of 4: cannot tell: too noisy")

    def test_has_a_column_for_clean_runs_that_cannot_be_judged(self):
        text = page({CLEAN: 3}, (CLEAN, Verdict(NOBODY)), (CLEAN, Verdict(CANNOT_TELL)), (CLEAN, Verdict(OTHER_RANK, "stragglers: rank 1 (host)")))
        self.assert_says(text, "| program | ranks | recorded | runs | nobody | cannot tell | a rank named | no verdict |", "| ddp | 2 | live | 3 | 1 | 1 | 1 | 0 |",
                         "| live, clean: a rank named | none | 1 of 3 (33.3 %); 1 cannot tell, 0 without a verdict | **no** |", "- ddp:none:2: 1 of 3: another rank: stragglers: rank 1 (host)")

    def test_counts_runs_that_were_repeated(self):
        text = page({SLOW: 1}, (SLOW, Verdict(CANNOT_TELL), {"again": True}), (SLOW, hit()))
        self.assert_says(text, "Runs made: 1 of 1.", "were repeated (`--patience`): 1. They count", "| 1 of 2 (50.0 %) | **no** |",
                         "runs of each cell with a fault | 3 or more | 1 |")

    def test_counts_another_cause_as_a_false_name_in_traces(self):
        for names in (OTHER_CAUSE, OTHER_RANK):
            self.assert_says(page({TRACED: 2}, (TRACED, hit()), (TRACED, Verdict(names))), "another cause named | none | 1 of 2 (50.0 %) | **no** |",
                             "| kineto3, with a fault: rank and cause named | 90 % or more | 1 of 2")

    def test_counts_failures_as_missed(self):
        self.assert_says(page({SLOW: 1}, (SLOW, Verdict(NO_VERDICT, "the program did not end within 300 s"))), "0 of 1 (0.0 %)",
                         "1 of 1: no verdict: the program did not end within 300 s")

    def test_shows_how_far_waits_are_from_the_clocks(self):
        runs = [(SLOW, hit(pair)) for pair in ((38.0, 40.0), (42.0, 40.0), (2.0, 1.0))]
        text = page({SLOW: 3, OFTEN: 1}, *runs, (OFTEN, Verdict(NAMED, function=HIT, waits="rank 0 waits ...", compared=[[0.0, 3.0]])))
        self.assert_says(text, "| ddp | live | 3 of 3 | 2 | 0.95, 1.00, 1.05 | 1 | 1.0 ms |", "| fsdp | live | 0 of 1 | 0 | – | 1 | 3.0 ms |",
                         "waits of all ranks as the clocks say | all | 3 of 4 (75.0 %); 0 not compared | **no** |", "- fsdp:sleep:2: 1 of 1: rank 0 waits ...")

    def test_says_what_the_first_version_did_not_keep(self):
        text = page({CLEAN: 1, SLOW: 1}, (CLEAN, Verdict(NOBODY), {"how": ""}), (SLOW, Verdict(NAMED, function=HIT), {"how": ""}))
        self.assert_says(text, "Clean runs that were judged by the first version of the script: 1. ", "Runs whose waits that version judged in part (no short ones; in some programs no upper limit): 2.", "| all | 0 of 0; 2 not compared | no runs |")

    def test_lists_other_findings_about_one_rank_of_clean_runs(self):
        self.assert_says(page({CLEAN: 1}, (CLEAN, Verdict(NOBODY, mentioned=["step_time.odd of rank 1"]))), "- `step_time.odd`: 1")

    def test_is_laid_out_with_lines_of_one_width_at_most(self):
        self.assertLessEqual(max(len(line) for line in page({}).splitlines() if not line.startswith("|")), 150)


if __name__ == "__main__":
    unittest.main()
