"""What scripts/gpu-verdicts takes for right, without a GPU: its jobs are played."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True
SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/gpu-verdicts"
loader = importlib.machinery.SourceFileLoader("gpu_verdicts", str(SCRIPT))
gpu_verdicts = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_verdicts", loader))
loader.exec_module(gpu_verdicts)


class Played(gpu_verdicts.Jobs):
    """Says what a report, or a hang, and the log of a job would."""

    def __init__(self, folder, told, log=""):
        super().__init__(pathlib.Path("/nonexistent"), pathlib.Path(folder))
        self.told, self.log = told, log

    def run(self, command, log, until=None):
        return self.log

    def json_of(self, *words):
        return self.told

    def text_of(self, name, *words):
        pass


def named(*rows, function=None):
    stragglers = [{"rank": rank, "kind": kind} | ({"code": {"function": function}} if function else {}) for rank, kind in rows]
    return {"stragglers": stragglers, "findings": [], "straggler_basis": {}}


def stopped(verdict, kind, *ranks, certainty="fact"):
    return {"verdict": verdict, "roots": [{"ranks": list(ranks), "kind": kind, "certainty": certainty, "op": "allreduce"}]}


class Verdicts(unittest.TestCase):
    def slow(self, fault, told):
        with tempfile.TemporaryDirectory() as folder:
            return Played(folder, told).slow(fault).right

    def broken(self, fault, told, log="", way="alarm"):
        with tempfile.TemporaryDirectory() as folder:
            return Played(folder, told, log).broken(fault, way).right

    def test_the_slow_rank_must_be_named_with_its_cause_and_function_and_nobody_else(self):
        self.assertTrue(self.slow("sleep", named((1, "host"), function="prepare")))
        self.assertFalse(self.slow("sleep", named((1, "host"))))
        self.assertFalse(self.slow("sleep", named((1, "data"), function="prepare")))
        self.assertFalse(self.slow("sleep", named((0, "host"), function="prepare")))
        self.assertFalse(self.slow("kernels", named((0, "compute"), (1, "compute"))))
        self.assertFalse(self.slow("kernels", named()))

    def test_of_a_clean_job_nobody_may_be_named(self):
        self.assertTrue(self.slow("none", named()))
        self.assertFalse(self.slow("none", named((1, "network"))))

    def test_a_report_that_cannot_be_read_is_wrong(self):
        self.assertFalse(self.slow("none", {"unreadable": "no such file"}))

    def test_a_job_that_hangs_needs_the_rank_the_kind_and_the_alarm(self):
        right, alarm = stopped("hang", "never_came", 1), gpu_verdicts.ALARM
        self.assertTrue(self.broken("never", right, alarm))
        self.assertFalse(self.broken("never", right))
        self.assertTrue(self.broken("never", right, way="timeout"))
        self.assertFalse(self.broken("never", stopped("hang", "never_came", 0), alarm))
        self.assertFalse(self.broken("never", stopped("crash", "dead", 1), alarm))
        self.assertFalse(self.broken("never", stopped("hang", "never_came", 1, certainty="guess"), alarm))
        self.assertFalse(self.broken("never", {"verdict": "finished", "roots": []}, alarm))

    def test_a_job_that_ends_by_itself_must_give_no_alarm(self):
        self.assertTrue(self.broken("kill", stopped("crash", "dead", 1)))
        self.assertFalse(self.broken("kill", stopped("crash", "dead", 1), gpu_verdicts.ALARM))

    def test_of_two_ranks_that_differ_both_may_be_named(self):
        self.assertTrue(self.broken("size", stopped("hang", "size", 0, 1), gpu_verdicts.ALARM))
        self.assertFalse(self.broken("never", stopped("hang", "never_came", 0, 1), gpu_verdicts.ALARM))


class Page(unittest.TestCase):
    def test_what_was_found_stays_if_the_script_is_ended(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "page.md")
            page = gpu_verdicts.Page(path, "NVIDIA X", "abc1234")
            page.run(lambda: gpu_verdicts.Row("sleep, recorded", True, "rank 1 (host)"))
            self.assertIn("| sleep, recorded | right | rank 1 (host) | 0 |", path.read_text())
            page.run(lambda: gpu_verdicts.Row("none, recorded", False, "rank 1 (network)"))
            self.assertIn("| none, recorded | **wrong** | rank 1 (network) | 0 |", path.read_text())


class Refusals(unittest.TestCase):
    def run_with(self, folder, *words):
        smi = pathlib.Path(folder, "nvidia-smi")
        smi.write_text("#!/bin/sh\necho NVIDIA X\n")
        smi.chmod(0o755)
        return subprocess.run([sys.executable, "-B", SCRIPT, *words, "--out", folder + "/out"], capture_output=True, text=True, env={"PATH": f"{folder}:/usr/bin:/bin"})

    def archive(self, folder, name):
        home = pathlib.Path(folder, name)
        home.mkdir()
        (home / "COMMIT").write_text("abc1234\n")
        with tarfile.open(pathlib.Path(folder, "bundle.tar"), "w") as archive:
            archive.add(home, name)
        return folder + "/bundle.tar"

    def test_an_unknown_job_is_refused_and_does_not_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_with(folder, self.archive(folder, "rankscope-1"), "--only", "slow-slep")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("slow-slep: not a job; choose from slow-none", done.stderr)

    def test_what_is_no_bundle_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.run_with(folder, self.archive(folder, "other"))
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("is not a bundle", done.stderr)


if __name__ == "__main__":
    unittest.main()
