#!/usr/bin/env python3
"""The file of the runs: what was judged is kept, also by the first version of the script."""
import json
import pathlib
import tempfile
import unittest

import judging
from judging import CANNOT_TELL, HIT, NAMED, NOBODY, NO_VERDICT, OTHER_CAUSE, OTHER_RANK, Verdict
from kept import UNKNOWN_S, Kept, Run
from scenes import CLEAN, SLOW


def run(cell=SLOW, names=NAMED, **named):
    return Run(cell.name, "abc1234", Verdict(names, function=HIT, waits=HIT, compared=[[40.0, 40.1]]), "40 steps", **named)


class TheFile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "runs"

    def read(self, text):
        self.path.write_text(text)
        return Kept(self.path)

    def of_first_version(self, cell, problem):
        return self.read(json.dumps({"cell": cell, "problem": problem, "commit": "abc1234"}) + "\n").runs[0].verdict

    def test_keeps_a_run_as_soon_as_it_is_added(self):
        Kept(self.path).add(run(seconds=30.5))
        Kept(self.path).add(run(names=CANNOT_TELL, again=True))
        self.assertEqual(Kept(self.path).runs, [run(seconds=30.5), run(names=CANNOT_TELL, again=True)])

    def test_loses_only_the_run_that_was_being_written_when_the_script_was_killed(self):
        Kept(self.path).add(run())
        whole = self.path.read_text()
        kept = self.read(whole + whole[:40])
        self.assertEqual(kept.runs, [run()])
        kept.add(run(names=NOBODY))
        self.assertEqual(Kept(self.path).runs, [run(), run(names=NOBODY)])

    def test_refuses_a_file_of_something_else(self):
        for text in ("a table\n", '{"cell": "ddp:none:2"}\n', '{"cell": "ddp:none:2", "problem": null, "commit": "a"}\n[]\n'):
            with self.assertRaisesRegex(ValueError, f":{len(text.splitlines())}: not a run"):
                self.read(text)

    def test_of_the_first_version_is_read_with_what_it_said(self):
        for cell, problem, names in (("ddp:sleep:2", None, NAMED), ("ddp:none:2:kineto3", None, NOBODY), ("ddp:sleep:2", "cannot tell", CANNOT_TELL),
                                     ("ddp:sleep:2", "stragglers: []", NOBODY), ("ddp:sleep:2", "stragglers: [(1, 'data')]", OTHER_CAUSE),
                                     ("ddp:sleep:2", "stragglers: [(0, 'host')]", OTHER_RANK), ("ddp:none:2", "stragglers: [(1, 'host')]", OTHER_RANK),
                                     ("ddp:link:2", "slow connections of ranks []", NOBODY), ("ddp:link:2", "slow connections of ranks [0]", OTHER_RANK),
                                     ("ddp:sleep:2", "the program ended with 1: Killed", NO_VERDICT), ("ddp:sleep:2", "stragglers: no steps", NO_VERDICT),
                                     ("ddp:sleep:2", "function: main, ddp.py:55", NAMED), ("ddp:sleep:2", "rank 0 waits 1 ms", NAMED)):
            self.assertEqual(self.of_first_version(cell, problem).names, names, problem)

    def test_of_the_first_version_keeps_functions_and_waits_that_were_wrong_and_does_not_call_waits_right(self):
        self.assertEqual(self.of_first_version("ddp:sleep:2", "function: main, ddp.py:55").function, "function: main, ddp.py:55")
        late = self.of_first_version("ddp:sleep:2", "rank 0 waits 1 ms")
        self.assertEqual((late.function, late.waits), (HIT, "rank 0 waits 1 ms"))
        self.assertEqual((self.of_first_version("ddp:sleep:2", None).function, self.of_first_version("ddp:sleep:2", None).waits), (HIT, ""))


class Runs(unittest.TestCase):
    def test_that_are_repeated_are_not_among_those_wanted(self):
        kept = Kept()
        kept.runs = [run(), run(names=CANNOT_TELL, again=True), run(CLEAN), run(names=CANNOT_TELL, again=True)]
        self.assertEqual((kept.counted(SLOW), kept.repeated(SLOW), kept.repeated(CLEAN)), (1, 2, 0))

    def test_last_as_long_as_those_of_their_cell_else_as_all(self):
        kept = Kept()
        self.assertEqual(kept.expected_s(SLOW), UNKNOWN_S)
        kept.runs = [Run(SLOW.name, "a", judging.failed("old")), run(seconds=20), run(seconds=40)]
        self.assertEqual((kept.expected_s(SLOW), kept.expected_s(CLEAN)), (30, 30))
        kept.runs.append(run(CLEAN, seconds=90))
        self.assertEqual((kept.expected_s(SLOW), kept.expected_s(CLEAN)), (30, 90))


if __name__ == "__main__":
    unittest.main()
