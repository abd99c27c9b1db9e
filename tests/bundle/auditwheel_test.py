"""auditwheel_test.py BUILD: auditwheel (PyPI), which checks wheels for Linux, agrees with the platforms in the names of our wheels."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
from wheels import ROOT, make  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else ROOT / "build/release"


def platform_of(wheel):
    return wheel.stem.rpartition("-")[2]


class Wheels(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="rankscope wheel ")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def shown(self, wheel):
        done = subprocess.run([sys.executable, "-m", "auditwheel", "show", "--json", wheel], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def test_the_first_runs_on_the_platform_that_its_name_says(self):
        wheel = make(BUILD, self.folder)
        self.assertEqual(self.shown(wheel)["overall_tag"], platform_of(wheel))

    def test_the_viewer_needs_what_its_name_says_and_expat(self):
        """Overall, auditwheel calls it linux_x86_64, for two reasons. It does not look into the RPATH of the program for what the plugins
        need, so that it takes libraries that are in the wheel for those of the host. And libexpat, which is left to the host
        (scripts/portable_viewer.py says why), is in no list of what every host has."""
        if not (BUILD / "bin/rankscope-gui").exists():
            self.skipTest("the viewer was not built")
        wheel = make(BUILD, self.folder, "--viewer")
        shown = self.shown(wheel)
        with zipfile.ZipFile(wheel) as archive:
            carried = {pathlib.PurePath(name).name for name in archive.namelist()}
        self.assertEqual(shown["sym_tag"], platform_of(wheel))
        self.assertEqual(set(shown["external_libs"]) - carried, {"libexpat.so.1"})


if __name__ == "__main__":
    unittest.main()
