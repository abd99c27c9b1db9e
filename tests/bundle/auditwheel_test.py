"""auditwheel_test.py BUILD: auditwheel (PyPI), which checks wheels for Linux, agrees with the platform in the name of our wheel."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else ROOT / "build/release"


class Wheel(unittest.TestCase):
    def test_runs_on_the_platform_that_its_name_says(self):
        with tempfile.TemporaryDirectory(prefix="rankscope wheel ") as folder:
            made = subprocess.run([ROOT / "scripts/wheel", "--build", BUILD, "--out", folder], capture_output=True, text=True)
            self.assertEqual(made.returncode, 0, made.stdout + made.stderr)
            (wheel,) = pathlib.Path(folder).glob("*.whl")
            shown = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True)
        platform = wheel.stem.rpartition("-")[2]
        words = " ".join(shown.stdout.split())  # it wraps lines
        self.assertEqual(shown.returncode, 0, shown.stdout + shown.stderr)
        self.assertIn(f'consistent with the following platform tag: "{platform}"', words)


if __name__ == "__main__":
    unittest.main()
