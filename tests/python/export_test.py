"""Parquet: the same tables, complete or not at all; and the command line of the wheel."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import pyarrow.parquet

import rankscope
import support
from support import DEMO, ROOT, run_of


def command(*words, **options):
    return subprocess.run([sys.executable, "-B", "-m", "rankscope", *map(str, words)], capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "python")}, **options)


class Parquet(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.run_ = rankscope.open(DEMO)
        cls.written = cls.run_.to_parquet(cls.folder / "demo")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_every_table_that_can_be_computed_is_a_file(self):
        files = {path.stem for path in (self.folder / "demo").glob("*.parquet")}
        self.assertEqual(files, set(self.written))
        missing = set(self.run_.table("missing").to_pydict()["table_name"])
        self.assertEqual(files | missing, set(rankscope.tables()))
        self.assertEqual(files & missing, set())

    def test_files_hold_the_tables(self):
        for name in ("run", "rank_steps", "findings", "ranks"):
            path = self.folder / "demo" / f"{name}.parquet"
            self.assertEqual(pyarrow.parquet.read_table(path).to_pydict(), self.run_.table(name).to_pydict(), name)
        column = pyarrow.parquet.ParquetFile(self.folder / "demo/spans.parquet").metadata.row_group(0).column(0)
        self.assertEqual(column.compression, "ZSTD")

    def test_steps_and_ranks_choose(self):
        out = self.folder / "part"
        done = command("export", DEMO, "--to", "parquet", out, "--steps", "3:4", "--ranks", "1-2")
        self.assertEqual(done.returncode, 0, done.stderr)
        steps = pyarrow.parquet.read_table(out / "rank_steps.parquet").to_pydict()
        self.assertEqual((set(steps["rank"]), set(steps["step"])), ({1, 2}, {3, 4}))
        lanes = pyarrow.parquet.read_table(out / "lanes.parquet").to_pydict()  # its rows belong to ranks, but not to steps
        self.assertEqual(set(lanes["rank"]), {1, 2})
        self.assertEqual(set(pyarrow.parquet.read_table(out / "steps.parquet").to_pydict()["step"]), {3, 4})
        self.assertEqual(rankscope.tables()["lanes"]["chosen_by"], ["ranks"])

    def test_only_an_earlier_export_is_replaced(self):
        out = self.folder / "again"
        self.run_.to_parquet(out, tables=["run"])
        self.assertEqual(self.run_.to_parquet(out, tables=["steps"]), ["steps"])
        self.assertFalse((out / "run.parquet").exists())
        for mine in (out / "notes.txt", out / "my.parquet"):
            mine.write_text("x")
            with self.assertRaises(rankscope.UsageError) as caught:
                self.run_.to_parquet(out, tables=["run"])
            self.assertIn(mine.name, str(caught.exception))
            self.assertTrue((out / "steps.parquet").exists())
            mine.unlink()
        other = self.folder / "other"
        other.mkdir()
        (other / "mine").write_text("x")
        self.assertRaises(rankscope.UsageError, self.run_.to_parquet, other)
        self.assertRaises(rankscope.UsageError, self.run_.to_parquet, other / "mine")
        self.assertRaises(rankscope.CannotWriteError, self.run_.to_parquet, self.folder / "absent/x")
        self.assertEqual([path.name for path in self.folder.iterdir() if path.name.startswith(".")], [])

    def test_a_table_that_is_asked_for_and_cannot_be_computed_is_an_error(self):
        with self.assertRaises(rankscope.CannotTellError):
            run_of("0 op 0 10 a\n").to_parquet(self.folder / "none", tables=["steps"])
        self.assertFalse((self.folder / "none").exists())

    def test_the_command_line_says_what_is_wrong(self):
        for words, status in ((("export", "--to", "parquet", "out"), 2), (("export", self.folder / "absent", "--to=parquet", self.folder / "x"), 3),
                              (("export", DEMO, "--to", "parquet", self.folder / "x", "--ranks", "a"), 2)):
            done = command(*words, cwd=self.folder)
            self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(command("report", self.folder / "absent").returncode, 3)  # by the compiled program


if __name__ == "__main__":
    support.main()
