"""The package is marked as typed (py.typed): its annotations are complete and agree with its code."""
import os
import subprocess
import sys
import tempfile
import unittest

import support
from support import ROOT


class Types(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cache = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.cache.cleanup()

    def mypy(self, *words):
        return subprocess.run([sys.executable, "-m", "mypy", "--config-file", ROOT / "tests/python/mypy.ini", "--cache-dir", self.cache.name, *words],
                              capture_output=True, text=True, env={**os.environ, "MYPYPATH": str(ROOT / "python")}, cwd=ROOT)

    def test_the_package_has_no_error(self):
        done = self.mypy("python/rankscope")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_wrong_use_is_found(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as program:
            program.write('import rankscope\nrun = rankscope.open("x")\nrank: str = run.slow_ranks()[0].rank\n')
            program.flush()
            done = self.mypy(program.name)
        self.assertIn("Incompatible types in assignment", done.stdout)


if __name__ == "__main__":
    support.main()
