"""The examples of docs/python.md, docs/from-table.md and of the docstrings run and show what they say."""
import doctest
import os
import unittest

import rankscope
import rankscope._run
import support
from support import DEMO, ROOT

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def load_tests(loader, tests, pattern):
    os.chdir(ROOT)
    names = {"rankscope": rankscope, "run": rankscope.open(DEMO)}
    for page in ("docs/python.md", "docs/from-table.md"):
        tests.addTests(doctest.DocFileSuite(str(ROOT / page), module_relative=False, globs=dict(names), optionflags=FLAGS))
    tests.addTests(doctest.DocTestSuite(rankscope._run, extraglobs=dict(names), optionflags=FLAGS))
    return tests


class Examples(unittest.TestCase):
    def test_there_are_examples(self):
        self.assertGreater((ROOT / "docs/python.md").read_text().count(">>> "), 10)


if __name__ == "__main__":
    support.main()
