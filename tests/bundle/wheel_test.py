#!/usr/bin/env python3
"""wheel_test.py BUILD: makes the wheel of BUILD with scripts/wheel, installs it in a fresh environment without a network, and uses it
there as a user of another machine would, without this tree and without a compiler."""
import os
import pathlib
import re
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
from wheels import ROOT, check_record, environment, make, run  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else ROOT / "build/release"


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="rankscope wheel ")
        cls.folder = pathlib.Path(cls.scratch.name)
        cls.wheel = make(BUILD, cls.folder)
        cls.venv = environment(cls.folder, cls.wheel)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def python(self, program, *words):
        done = run(self.venv / "bin/python", "-c", program, *words, folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_its_name_says_what_it_runs_on(self):
        found = re.fullmatch(r"rankscope-[\d.]+-py3-none-manylinux_2_(\d+)_\w+\.whl", self.wheel.name)
        self.assertLessEqual(int(found[1]), 34)
        self.assertLessEqual(self.wheel.stat().st_size, 25 * 2**20)

    def test_every_file_is_in_its_record(self):
        check_record(self, self.wheel)

    def test_every_library_has_its_licence(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = archive.namelist()
        carried = [pathlib.PurePath(name).name for name in names if "/lib/rs_" in name]
        self.assertGreater(len(carried), 1)
        for name in carried:
            self.assertTrue(any(text.endswith(f"licenses/lib{name.removeprefix('rs_')}.txt") for text in names), name)

    def test_every_library_that_is_compiled_in_has_its_licence(self):
        with zipfile.ZipFile(self.wheel) as archive:
            for package in ("libcli11-dev", "libfmt-dev", "libprotozero-dev", "nlohmann-json3-dev"):
                (name,) = [name for name in archive.namelist() if name.endswith(f"licenses/{package}.txt")]
                self.assertIn("Copyright", archive.read(name).decode())

    def test_every_library_that_is_needed_is_there(self):
        with tempfile.TemporaryDirectory() as scratch:
            with zipfile.ZipFile(self.wheel) as archive:
                archive.extractall(scratch)
            import portable
            portable.check_needed(pathlib.Path(scratch))
            for path in pathlib.Path(scratch).rglob("rs_zstd*"):
                path.unlink()
            with self.assertRaises(SystemExit) as caught:
                portable.check_needed(pathlib.Path(scratch))
            self.assertIn("neither packed nor on every host", str(caught.exception))

    def test_the_program_reports(self):
        done = run(self.venv / "bin/rankscope", "report", ROOT / "samples/demo.rankscope", folder=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("Rank 2", done.stdout)

    def test_the_program_records(self):
        done = run(self.venv / "bin/rankscope", "record", "--out", "r.rankscope", "--", "/bin/true", folder=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "r.rankscope/manifest.json").exists())

    def test_the_package_needs_nothing_else(self):
        shown = self.python("import rankscope, sys; run = rankscope.open(sys.argv[1]); print(run.slow_ranks()[0].rank, len(run.table('spans')) > 0)",
                            ROOT / "samples/demo.rankscope")
        self.assertEqual(shown, "2 True\n")

    def test_its_libraries_are_not_those_of_python(self):
        shown = self.python("import sqlite3, zlib, rankscope, sys\nrun = rankscope.open(sys.argv[1]); run.export('sqlite', 'out.sqlite')\n"
                            "print(sqlite3.connect('out.sqlite').execute('SELECT count(*) FROM run').fetchone()[0])\n"
                            "print(*{line.split('/')[-1].strip() for line in open('/proc/self/maps') if 'rs_' in line})",
                            ROOT / "samples/demo.rankscope")
        self.assertEqual(shown.splitlines()[0], "1")
        self.assertIn("rs_sqlite3", shown)

    def test_the_trainer_and_the_viewer_are_said_to_be_missing(self):
        for verb, statuses, missing, words in (("train", (125,), "reference trainer", ("--parallel", "ddp", "--ranks", "2", "--steps", "1")),
                                               ("view", (5,), "the timeline viewer is not installed: install it with: pip install "
                                                "--find-links FOLDER 'rankscope[viewer]' (FOLDER has both wheels); or write a page",
                                                (ROOT / "samples/demo.rankscope",))):
            done = run(self.venv / "bin/rankscope", verb, *words, folder=self.folder)
            self.assertIn(done.returncode, statuses, done.stderr)
            self.assertIn(missing, done.stderr)


if __name__ == "__main__":
    os.umask(0o022)
    unittest.main()
