#!/usr/bin/env python3
"""The page that scripts/hang-matrix writes."""
import argparse
import json
import pathlib
import tempfile
import unittest

from script import load

matrix = load("hang-matrix")
import check_docs  # noqa: E402, in the folder of the scripts


class Results(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.kept = pathlib.Path(folder.name) / "kept"
        self.runs = []
        self.addCleanup(setattr, matrix, "run", matrix.run)
        matrix.run = self.run_that_hangs

    def run_that_hangs(self, _build, cell):
        self.runs.append(cell)
        return {"verdict": "hang", "roots": [{"ranks": [cell["faulty"]], "kind": "never_came", "op": "all_reduce", "certainty": "fact"}]}, ""

    def try_two(self):
        chosen = argparse.Namespace(modes="ddp", faults="never", ranks="4", repeat=2, jobs=1, build=None, kept=self.kept)
        return dict(matrix.try_faults(chosen)[0])

    def test_are_kept_and_not_measured_again_at_the_same_commit(self):
        self.assertEqual(self.try_two(), {("ddp", "never"): [2, 2, []]})
        self.assertEqual(self.try_two(), {("ddp", "never"): [2, 2, []]})
        self.assertEqual(len(self.runs), 2)

    def test_of_another_commit_and_a_line_that_was_cut_are_measured_again(self):
        self.try_two()
        first, second = filter(None, self.kept.read_text().splitlines())
        self.kept.write_text(json.dumps(json.loads(first) | {"commit": "0123456"}) + "\n" + second[:30])
        self.try_two()
        self.assertEqual(len(self.runs), 4)
        self.try_two()
        self.assertEqual(len(self.runs), 4, "what follows a cut line is kept")

    def test_of_other_ranks_than_the_faulty_one_are_not_right(self):
        verdict = {"verdict": "hang", "roots": [{"ranks": [0], "kind": "dead", "certainty": "fact"}]}
        result = matrix.result_of({"mode": "ddp", "fault": "kill", "ranks": 4, "faulty": 1}, verdict, "  rank      : 3 (local_rank: 3)\n")
        self.assertEqual(result, {"right": False, "said": "dead of [0]", "op_of_dead": False, "torchrun": 3})

    def test_of_a_slow_job_are_right_if_nobody_said_that_it_hangs(self):
        cell = {"mode": "ddp", "fault": "slow", "ranks": 2, "faulty": 1}
        self.assertTrue(matrix.result_of(cell, {"verdict": "finished", "roots": []}, "")["right"])
        self.assertFalse(matrix.result_of(cell, {"verdict": "finished", "roots": []}, f"rankscope: {matrix.ALARM} for 8 s")["right"])


class Page(unittest.TestCase):
    def test_it_says_at_which_commit_it_was_measured(self):
        chosen = argparse.Namespace(ranks="2", repeat=1, clean=0)
        text = matrix.page(chosen, {("ddp", "kill"): [1, 1, []]}, [], 0, {"all": 3, "with operation": 2})
        self.assertIn("Of 3 jobs in which a rank died, the verdict on 2 names", text)
        if matrix.commit() != "unknown":  # in a copy without git
            self.assertRegex(text, check_docs.MEASURED_AT)
        self.assertIn(f"at commit {matrix.commit()}.", text)


if __name__ == "__main__":
    unittest.main()
