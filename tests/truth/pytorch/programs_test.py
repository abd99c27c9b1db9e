#!/usr/bin/env python3
"""Programs that do not end are ended, with all that they started."""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import programs

# As torchrun does: the child has a session of its own, and keeps the standard error open.
STARTS_A_SESSION = "import subprocess, sys, time; child = subprocess.Popen([sys.executable, '-c', {child!r}, {path!r}], start_new_session=True); child.wait()"
SLEEPS = "import os, signal, sys, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)"


def is_running(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "pid"
        self.hanging = [sys.executable, "-c", STARTS_A_SESSION.format(child=SLEEPS, path=str(self.path))]

    def pid_of_child(self):
        """That the program has written, within 10 s."""
        for _ in range(200):
            if self.path.exists() and self.path.read_text():
                return int(self.path.read_text())
            time.sleep(0.05)
        self.fail("the program did not start")

    def assert_ends(self, pid):
        for _ in range(200):
            if not is_running(pid):
                return
            time.sleep(0.05)
        self.fail("the program goes on")

    def test_that_do_not_end_in_time_are_ended_with_their_children_in_other_sessions(self):
        with self.assertRaisesRegex(programs.Failed, "the program did not end within 2 s"):
            programs.finish("the program", self.hanging, within=2)
        self.assert_ends(self.pid_of_child())

    def test_are_ended_when_the_script_is_asked_to_end(self):
        script = pathlib.Path(programs.FOLDER.parents[2] / "scripts/truth-pytorch")
        code = (f"import importlib.machinery, signal; loader = importlib.machinery.SourceFileLoader('script', {str(script)!r}); "
                f"script = loader.load_module(); signal.signal(signal.SIGTERM, script.stop_by_signal); "
                f"script.programs.finish('the program', {self.hanging!r})")
        asked = subprocess.Popen([sys.executable, "-B", "-W", "ignore", "-c", code])
        pid = self.pid_of_child()
        asked.terminate()
        self.assertEqual(asked.wait(30), 128 + signal.SIGTERM)
        self.assert_ends(pid)

    def test_that_fail_say_so_with_their_last_words(self):
        with self.assertRaisesRegex(programs.Failed, "report ended with 3: no such recording$"):
            programs.finish("report", ["sh", "-c", "echo no such recording >&2; echo ============ >&2; exit 3"])

    def test_that_are_ended_by_a_signal_say_so(self):
        with self.assertRaisesRegex(programs.Failed, r"report ended with -9: \(no message\)"):
            programs.finish("report", ["sh", "-c", "kill -9 $$"])


if __name__ == "__main__":
    unittest.main()
