#!/usr/bin/env python3
"""What scripts/mode-table takes for a difference between prediction and measurement."""
import unittest

from script import load

modes = load("mode-table")


def row(measured, ranks=2):
    known = modes.Rank(sent=100, always=1000, at_most=2000)
    made = modes.Row(modes.Case("ddp", ranks), predicted={None: known}, measured=measured)
    modes.judge(made)
    return made.problems


class Judge(unittest.TestCase):
    def test_what_is_as_predicted_is_no_problem(self):
        self.assertEqual(row({rank: modes.Rank(100, 1010, 2000) for rank in range(2)}), [])

    def test_another_number_of_bytes_is_a_problem(self):
        self.assertEqual(row({0: modes.Rank(100, 1000, 2000), 1: modes.Rank(101, 1000, 2000)}), ["rank 1 sends 101 bytes, not 100"])

    def test_a_rank_that_is_not_in_the_recording_is_a_problem(self):
        self.assertEqual(row({0: modes.Rank(100, 1000, 2000)}), ["1 of 2 ranks were measured: 1 missing"])


if __name__ == "__main__":
    unittest.main()
