#!/usr/bin/env python3
"""What scripts/hang-peers writes, and how it breaks dumps."""
import pathlib
import tempfile
import unittest

from script import load

peers = load("hang-peers")
import check_docs  # noqa: E402, in the folder of the scripts


class Words(unittest.TestCase):
    def test_of_the_ranks_named_say_what_differs_from_the_truth(self):
        self.assertEqual(peers.words({9, 14}, (9, 14)), "exactly")
        self.assertEqual(peers.words({9}, (9, 14)), "not 14")
        self.assertEqual(peers.words({0, 9, 14}, (9, 14)), "also 0")
        self.assertEqual(peers.words({0, 9}, (9, 14)), "not 14; also 0")
        self.assertEqual(peers.words(set(), (9, 14)), "nobody")
        self.assertEqual(peers.words("KeyError: 3", (9, 14)), "fails: KeyError: 3")


class Variations(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.given, self.out = pathlib.Path(folder.name) / "given", pathlib.Path(folder.name) / "out"
        self.given.mkdir()
        self.out.mkdir()
        for rank in range(16):
            (self.given / f"_dump_{rank}").write_bytes(b"0123456789")

    def make(self, variation):
        dumps = sorted(self.given.iterdir())
        self.assertEqual(peers.VARIATIONS[variation](dumps, self.out, (9, 14)), (9, 14))
        return {path.name: path.stat().st_size for path in self.out.iterdir()}

    def test_leave_out_the_dumps_of_the_faulty_ranks(self):
        made = self.make("without the dumps of the faulty ranks")
        self.assertEqual(set(range(16)) - {int(name.removeprefix("_dump_")) for name in made}, {9, 14})

    def test_leave_out_one_that_only_waits(self):
        self.assertNotIn("_dump_0", self.make("without the dump of rank 0"))

    def test_cut_one_dump_and_no_other(self):
        made = self.make("dump of the first faulty rank cut in half")
        self.assertEqual({name for name, size in made.items() if size != 10}, {"_dump_9"})
        self.assertEqual(made["_dump_9"], 5)

    def test_give_other_names_with_the_same_ranks(self):
        self.assertIn("nccl_trace_rank_15", self.make("named `nccl_trace_rank_N`"))


class Page(unittest.TestCase):
    def test_it_has_a_row_for_each_job_and_says_at_which_commit_it_was_made(self):
        answers = {"rankscope hang": ({9}, 0.1), "torchfrtrace": ("AssertionError", 2.0), "resiliency extension": ({1, 9}, 3.0)}
        text = peers.page([("job", "as recorded", (9,), answers)], (40.0, 900.0, 2e7))
        self.assertIn("| job, as recorded | 9 | exactly | fails: AssertionError | also 1 | 0.1 / 2.0 / 3.0 |", text)
        self.assertIn("40 s, 900 MB.", text)
        if peers.commit() != "unknown":  # in a copy without git
            self.assertRegex(text, check_docs.MEASURED_AT)


if __name__ == "__main__":
    unittest.main()
