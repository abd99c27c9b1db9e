#!/usr/bin/env python3
"""The page that scripts/hang-matrix writes."""
import argparse
import unittest

from script import load

matrix = load("hang-matrix")
import check_docs  # noqa: E402, in the folder of the scripts


class Page(unittest.TestCase):
    def test_it_says_at_which_commit_it_was_measured(self):
        chosen = argparse.Namespace(ranks="2", repeat=1, clean=0)
        text = matrix.page(chosen, {("ddp", "kill"): [1, 1, []]}, [], 0)
        if matrix.commit() != "unknown":  # in a copy without git
            self.assertRegex(text, check_docs.MEASURED_AT)
        self.assertIn(f"at commit {matrix.commit()}.", text)


if __name__ == "__main__":
    unittest.main()
