"""How scripts/gpu-check runs programs: in time, with all that they start."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
import gpu_machine  # noqa: E402
from gpu_machine import ENDED, NOT_STARTED, STOPPED, Outcome  # noqa: E402

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


def machine_for(seconds=60, log=None):
    return gpu_machine.Machine(pathlib.Path("."), time.monotonic() + seconds, log=log)


def run(seconds_of_launcher, seconds):
    began = time.monotonic()
    outcome = machine_for().run(sys.executable, "-c", LAUNCHER, seconds_of_launcher, seconds=seconds)
    return outcome, time.monotonic() - began


class Machine(unittest.TestCase):
    def test_what_takes_too_long_is_stopped_with_workers_in_sessions_of_their_own(self):
        outcome, took = run(60, 1.5)
        self.assertEqual((outcome.end, outcome.status, outcome.ok), (STOPPED, None, False))
        self.assertFalse(is_running(int(outcome.out)))
        self.assertTrue(outcome.why.startswith("stopped after 2 s"), outcome.why)
        self.assertLess(took, 10)

    def test_a_worker_that_outlives_its_launcher_is_neither_waited_for_nor_left(self):
        outcome, took = run(0, 30)
        self.assertTrue(outcome.ok)
        self.assertFalse(is_running(int(outcome.out)))
        self.assertLess(took, 10)

    def test_a_program_says_its_status_and_both_outputs(self):
        outcome = machine_for().run("/bin/sh", "-c", "echo $WORD; echo no >&2; exit 3", env={"WORD": "yes"})
        self.assertEqual((outcome.end, outcome.status, outcome.out, outcome.err), (ENDED, 3, "yes\n", "no\n"))

    def test_a_program_that_is_not_there_has_failed_and_is_no_exception(self):
        outcome = machine_for().run("/no/such/program")
        self.assertEqual((outcome.end, outcome.ok), (ENDED, False))
        self.assertEqual(outcome.why, "/no/such/program cannot be started: No such file or directory")

    def test_nothing_is_started_when_the_time_is_up(self):
        self.assertEqual(machine_for(0).run("true"), Outcome(NOT_STARTED, err="no time was left"))

    def test_nothing_is_started_for_which_too_little_time_is_left(self):
        machine = gpu_machine.Machine(pathlib.Path("."), time.monotonic() + 5, time.monotonic() + 5)
        self.assertEqual(machine.run("true", seconds=30).end, NOT_STARTED, "a third of 30 s is not left")
        self.assertTrue(machine.run("true", seconds=30, least=1).ok)

    def test_a_part_of_the_time_lets_a_program_end_that_has_begun(self):
        machine = machine_for().within(0.5)
        self.assertTrue(machine.run("sleep", "1", seconds=6).ok)
        self.assertEqual(machine.run("true", seconds=6).end, NOT_STARTED)

    def test_every_command_is_in_the_log_with_its_end(self):
        with tempfile.TemporaryDirectory() as folder:
            log = gpu_machine.Log(pathlib.Path(folder, "log"))
            machine_for(log=log).run("/bin/sh", "-c", "echo said; echo oh >&2; exit 3", env={"A": "b c"})
            text = log.path.read_text()
        self.assertRegex(text, r"== \d\d:\d\d:\d\d ended, status 3, \d+\.\d\d s: A='b c' /bin/sh -c 'echo said; echo oh >&2; exit 3'")
        self.assertIn("out| said\nerr| oh\n", text)

    def test_the_reason_is_the_last_line_that_names_an_error(self):
        said = "start\nRuntimeError: NCCL error: Duplicate GPU detected\nmore\n"
        self.assertEqual(Outcome(ENDED, 1, err=said).why, "RuntimeError: NCCL error: Duplicate GPU detected")
        self.assertEqual(Outcome(ENDED, -11, err="").why, "status -11")
        self.assertEqual(Outcome(STOPPED, err="waiting\n", seconds=60).why, "stopped after 60 s: waiting")

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


class Aside(unittest.TestCase):
    def test_it_runs_beside_programs_that_are_stopped(self):
        aside = gpu_machine.Aside(lambda: machine_for().run("/bin/sh", "-c", "sleep 1; echo done").out)
        self.assertTrue(machine_for().run("true").ok, "its end stops all others that this process has started")
        self.assertEqual(aside.result(20), "done\n")

    def test_what_fails_or_takes_too_long_has_no_result(self):
        self.assertIsNone(gpu_machine.Aside(lambda: machine_for().run("sleep", "60").out).result(0.3))
        with open(os.devnull, "w") as nothing:
            kept = os.dup(2)
            os.dup2(nothing.fileno(), 2)
            try:
                self.assertIsNone(gpu_machine.Aside(lambda: 1 // 0).result(20))
            finally:
                os.dup2(kept, 2)
                os.close(kept)


if __name__ == "__main__":
    unittest.main()
