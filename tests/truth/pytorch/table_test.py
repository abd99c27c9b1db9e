#!/usr/bin/env python3
"""scripts/truth-pytorch: makes the runs that are missing, within its time."""
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import kept
import programs
from scenes import CLEAN, LATE, SLOW, report, slow

SCRIPT = programs.ROOT / "scripts/truth-pytorch"
NOISY = report(doubt="too noisy"), LATE


def load():
    loader = importlib.machinery.SourceFileLoader("truth_pytorch", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


script = load()


class Killed(BaseException):
    pass


class TheTable(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.kept = pathlib.Path(folder.name) / "runs"
        self.page = pathlib.Path(folder.name) / "page.md"
        self.made = []
        self.now = 0

    def make(self, words, *outcomes):
        """Status and output of the script; the runs have these outcomes (the last one again and again) and take a minute each."""
        outcomes = list(outcomes) or [(report([slow()]), LATE)]

        def run(cell, steps):
            self.now += 60
            outcome = outcomes.pop(0) if len(outcomes) > 1 else outcomes[0]
            if isinstance(outcome, BaseException):
                raise outcome
            self.made.append(cell.name)
            return outcome

        out = io.StringIO()
        with contextlib.ExitStack() as stack:
            for what, name, value in ((programs, "run", run), (programs, "has_torch", lambda: True), (programs, "torch_version", lambda: "2"),
                                      (programs, "RANKSCOPE", SCRIPT), (script, "commit_here", lambda: "abc1234"),
                                      (script.time, "monotonic", lambda: self.now), (script.signal, "signal", mock.Mock()),
                                      (sys, "argv", [str(SCRIPT), "--kept", str(self.kept), *words])):
                stack.enter_context(mock.patch.object(what, name, value))
            stack.enter_context(contextlib.redirect_stdout(out))
            return script.main(), out.getvalue()

    def test_has_as_many_runs_of_each_cell_as_wanted_evenly(self):
        self.assertEqual(self.make(["--only", "ddp:sleep:2,fsdp:sleep:2", "--repetitions", "2"])[0], 0)
        self.assertEqual((self.made, len(kept.Kept(self.kept).runs)), (["ddp:sleep:2", "fsdp:sleep:2"] * 2, 4))

    def test_shows_progress_and_the_time_left(self):
        _, out = self.make(["--only", "ddp:sleep:2", "--repetitions", "3"])
        self.assertIn("runs: 1 of 3, cells: 0 of 1, about 2 min left: ddp:sleep:2: named", out)
        self.assertIn("runs: 3 of 3, cells: 1 of 1, about 0 min left: ddp:sleep:2: named\n0 of 3 missed", out)

    def test_stops_in_time_and_says_what_remains(self):
        status, out = self.make(["--only", "ddp:sleep:2", "--repetitions", "9", "--minutes", "3.5", "--report", str(self.page)])
        self.assertEqual((status, len(self.made)), (75, 3))
        self.assertIn("Remaining runs: 6, about 6 min: ddp:sleep:2 (6)", out)
        self.assertIn("**Not complete.** Runs made: 3 of 9.", self.page.read_text())

    def test_continues_where_it_was_killed(self):
        hit = report([slow()]), LATE
        with self.assertRaises(Killed):
            self.make(["--only", "ddp:sleep:2", "--repetitions", "3"], hit, hit, Killed())
        status, out = self.make(["--only", "ddp:sleep:2", "--repetitions", "3"])
        self.assertEqual((status, len(self.made)), (0, 3))
        self.assertIn("0 of 3 missed", out)

    def test_records_a_program_that_does_not_end_and_goes_on(self):
        status, out = self.make(["--only", "ddp:sleep:2", "--repetitions", "2"], programs.Failed("the program did not end within 300 s"), (report([slow()]), LATE))
        self.assertEqual((status, len(self.made)), (1, 1))
        self.assertIn("ddp:sleep:2: no verdict: the program did not end within 300 s", out)
        self.assertIn("1 of 2 missed", out)

    def test_repeats_patiently_what_cannot_be_told_and_keeps_each_attempt(self):
        status, _ = self.make(["--only", "ddp:sleep:2", "--patience", "3"], NOISY, NOISY, (report([slow()]), LATE))
        self.assertEqual((status, [run.again for run in kept.Kept(self.kept).runs]), (0, [True, True, False]))

    def test_gives_up_after_patience_also_over_two_sessions(self):
        with self.assertRaises(Killed):
            self.make(["--only", "ddp:sleep:2", "--patience", "2"], NOISY, Killed())
        status, out = self.make(["--only", "ddp:sleep:2", "--patience", "2"], NOISY)
        self.assertEqual((status, [run.again for run in kept.Kept(self.kept).runs]), (1, [True, True, False]))
        self.assertIn("1 of 1 missed", out)

    def test_does_not_call_a_clean_run_missed_that_cannot_be_judged(self):
        self.assertEqual(self.make(["--only", CLEAN.name], NOISY)[0], 0)

    def test_counts_runs_of_the_first_version(self):
        self.kept.write_text('{"cell": "%s", "problem": null, "commit": "abc1234"}\n' % SLOW.name)
        self.assertEqual((self.make(["--only", SLOW.name, "--repetitions", "2"])[0], len(self.made)), (0, 1))

    def test_refuses_a_cell_that_is_not_in_the_table(self):
        with contextlib.redirect_stderr(io.StringIO()) as errors, self.assertRaises(SystemExit):
            self.make(["--only", "ddp:slep:2"])
        self.assertIn("no cell of the table is called ddp:slep:2", errors.getvalue())


if __name__ == "__main__":
    unittest.main()
