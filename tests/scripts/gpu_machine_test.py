"""How scripts/gpu-check runs programs: in time, with all that they start."""
import os
import pathlib
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
import gpu_machine  # noqa: E402

# Starts a worker in a session of its own, as torchrun does, which keeps the output open; says its pid.
LAUNCHER = """
import subprocess, sys, time
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
print(worker.pid, flush=True)
time.sleep(float(sys.argv[1]))
"""


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def run(seconds_of_launcher, seconds):
    machine = gpu_machine.Machine(pathlib.Path("."), time.monotonic() + 60)
    began = time.monotonic()
    outcome = machine.run(sys.executable, "-c", LAUNCHER, seconds_of_launcher, seconds=seconds)
    return outcome, time.monotonic() - began


class Machine(unittest.TestCase):
    def test_what_takes_too_long_is_stopped_with_workers_in_sessions_of_their_own(self):
        (status, out, err), took = run(60, 1.5)
        self.assertIsNone(status)
        self.assertFalse(is_running(int(out)))
        self.assertTrue(err.startswith("stopped after 2 s"), err)
        self.assertLess(took, 10)

    def test_a_worker_that_outlives_its_launcher_is_neither_waited_for_nor_left(self):
        (status, out, _), took = run(0, 30)
        self.assertEqual(status, 0)
        self.assertFalse(is_running(int(out)))
        self.assertLess(took, 10)

    def test_a_program_says_its_status_and_both_outputs(self):
        machine = gpu_machine.Machine(pathlib.Path("."), time.monotonic() + 60)
        status, out, err = machine.run("/bin/sh", "-c", "echo $WORD; echo no >&2; exit 3", env={"WORD": "yes"})
        self.assertEqual((status, out, err), (3, "yes\n", "no\n"))

    def test_nothing_is_started_when_the_time_is_up(self):
        machine = gpu_machine.Machine(pathlib.Path("."), time.monotonic())
        self.assertEqual(machine.run("true"), (None, "", "the time was up"))

    def test_a_driver_that_does_not_answer_is_a_sentence(self):
        code = ("import gpu_machine, importlib.util, importlib.machinery as m\n"
                "loader = m.SourceFileLoader('gpu_check', 'gpu-check')\n"
                "module = importlib.util.module_from_spec(importlib.util.spec_from_loader('gpu_check', loader))\n"
                "loader.exec_module(module)\n"
                "module.shutil.which = lambda name: '/bin/sh'\n"
                "module.QUERY, module.ANSWERS_IN_S = ['-c', 'exec sleep 60'], 1\n"
                "print(module.find_gpu())\n")
        told = subprocess.run([sys.executable, "-B", "-c", code], cwd=SCRIPTS, env={**os.environ, "PYTHONPATH": str(SCRIPTS)}, text=True,
                              capture_output=True, timeout=20)
        self.assertEqual(told.stdout, "(None, 'nvidia-smi did not answer in 1 s')\n", told.stderr)


if __name__ == "__main__":
    unittest.main()
