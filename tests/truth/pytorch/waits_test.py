#!/usr/bin/env python3
"""Waits of a report against those of the clocks."""
import unittest

import cells
import waits
from scenes import CLEAN, LATE, MS, SLOW, met, report


class Waits(unittest.TestCase):
    def wrong(self, cell, of_ranks, clocks=LATE):
        return waits.compare(cell, report(waits=of_ranks), clocks)[0]

    def test_must_be_those_of_the_clocks(self):
        for cell in (SLOW, cells.Cell("fsdp", "sleep", 2), cells.Cell("ddp", "batch", 2)):
            for wait in (36.1, 40, 43.9):
                self.assertEqual(self.wrong(cell, (wait, 0)), "")
            for wait in (0, 35, 45, 400):
                self.assertEqual(self.wrong(cell, (wait, 0)), f"rank 0 waits {wait:.1f} ms per step, by the clocks 40.0 ms")

    def test_are_checked_even_if_they_are_short(self):
        self.assertEqual(self.wrong(SLOW, (40, 1.9)), "")
        self.assertEqual(self.wrong(SLOW, (40, 2.1)), "rank 1 waits 2.1 ms per step, by the clocks 0.0 ms")
        self.assertIn("rank 0 waits 50.0 ms per step, by the clocks 0.0 ms", self.wrong(CLEAN, (50, 0), [met(0, 100, 200), met(0, 100, 200)]))

    def test_add_up_over_the_meetings_of_a_step_each_with_its_own_members(self):
        pair, other, copies = [0, 1], [2, 3], [1, 3]
        step = [[[0, pair]], [[10, pair], [10, copies], [50, copies]], [[5, other]], [[25, other], [30, copies], [60, copies]]]
        self.assertEqual(waits.of_step(step), [10, 20 + 10, 20, 0])

    def test_for_several_meetings_at_the_same_time_count_once(self):
        there, back = [0, 1], [1, 0]  # a send and a receive of each rank
        self.assertEqual(waits.of_step([[[0, there], [10, back], [90, there]], [[40, there], [70, back], [90, there]]]), [70, 0])

    def test_are_those_of_the_steps_that_the_report_counts(self):
        clocks = [met(0, 100, 200, 300), met(70, 140, 240, 370)]
        self.assertEqual(self.wrong(SLOW, (40, 0), clocks), "")
        self.assertEqual([ns / MS for ns in waits.by_clocks(clocks, [0, 3])], [70, 0])

    def test_cannot_be_compared_without_steps_or_ranks_or_collectives(self):
        self.assertIn("counts no step of 3", waits.compare(SLOW, {**report(), "steps": []}, LATE)[0])
        self.assertIn("counts step 2 of 2", waits.compare(SLOW, report(), [met(0, 100), met(0, 100)])[0])
        self.assertIn("no operation was matched", waits.compare(SLOW, report(matched=0), LATE)[0])
        self.assertIn("has 1 of 2 ranks", self.wrong(SLOW, (40,)))
        unknown = [{"rank": rank, "wait_ns": None, "why": {"wait_ns": "no collectives"}} for rank in range(2)]
        self.assertEqual(waits.compare(SLOW, {**report(), "ranks": unknown}, LATE), ("the report has no waits of rank 0: no collectives", []))


if __name__ == "__main__":
    unittest.main()
