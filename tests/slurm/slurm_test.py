#!/usr/bin/env python3
"""slurm_test.py RANKSCOPE SAMPLES srun|torchrun [TEST...]: runs the batch scripts of samples/slurm on a real Slurm with two nodes,
on CPU ranks, and asks rankscope what was recorded. 77 without Slurm, or for torchrun without all of PyTorch (said which)."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from cluster import NODES, CannotRun, Cluster  # noqa: E402

CANNOT_RUN = 77
SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Job:
    """A batch script that has ended: its status, what it printed, and its recordings by name."""

    def __init__(self, status, said, folder, cluster):
        self.status, self.said, self.folder, self.cluster = status, said, folder, cluster

    def recording(self):
        found = list(self.folder.glob("*.rankscope"))
        assert len(found) == 1, f"{found}\n{self.said}"
        return found[0]

    def report(self):
        done = subprocess.run([RANKSCOPE, "report", self.recording(), "--json", "-"], capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stderr}\n{self.said}"
        return json.loads(done.stdout)

    def launcher(self):
        return json.loads((self.recording() / "manifest.json").read_text())["launcher"]

    def local_ranks(self):
        """By rank, as `rankscope dump` tells them."""
        dumped = subprocess.run([RANKSCOPE, "dump", self.recording()], capture_output=True, text=True, check=True).stdout
        found = {}
        for line in dumped.splitlines():
            if line.startswith("@rank ") and not line.startswith("@rank - "):  # torchrun itself has none
                words = dict(word.split("=", 1) for word in line.split() if "=" in word)
                found[int(line.split()[1])] = int(words["local_rank"])
        return [found[rank] for rank in sorted(found)]


class OnSlurm(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="rankscope-slurm-job-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def submit(self, script, *arguments, options=(), cancel_when=None, **environment):
        """SCRIPT is one of samples/slurm, or the text of a batch script."""
        path = SAMPLES / script
        if "\n" in script:
            path = self.folder / "job.sh"
            path.write_text("#!/bin/bash\nset -euo pipefail\n" + script)
        variables = {"RANKSCOPE": str(RANKSCOPE), "RANKSCOPE_SPOOL": str(self.folder)} | environment
        status, said = CLUSTER.run(path, arguments, ["--overcommit", *options], variables, self.folder,
                                   cancel_when)
        return Job(status, said, self.folder, CLUSTER)

    def assert_recorded(self, job, ranks, hosts):
        """Ranks 0 to RANKS - 1 and no other, each on its host; nothing but ranks trained."""
        self.assertEqual(job.status, 0, job.said)
        report = job.report()
        self.assertEqual((report["run"]["ranks"], report["run"]["world_size"]), (ranks, ranks), job.said)
        self.assertEqual([(row["rank"], row["host"]) for row in report["ranks"]], list(enumerate(hosts)), job.said)
        self.assertEqual([row["counter"] for row in report["data_quality"] if row["severity"] != "info"], [], job.said)

    def trainer(self, *options):
        return [str(RANKSCOPE.with_name("rankscope-train")), *options]


class Srun(OnSlurm):
    def test_one_process(self):
        job = self.submit("one_process.sbatch", options=["--nodelist=n1"])
        self.assert_recorded(job, 1, CLUSTER.hosts()[:1])
        self.assertIn("VERDICT", job.said)

    def test_one_node(self):
        job = self.submit("one_node_srun.sbatch", options=["--nodelist=n2", "--ntasks=4"])
        self.assert_recorded(job, 4, CLUSTER.hosts()[1:] * 4)
        self.assertEqual(job.local_ranks(), [0, 1, 2, 3])
        self.assertEqual(job.launcher(), "slurm")

    def test_several_nodes(self):
        job = self.submit("several_nodes_srun.sbatch")
        self.assert_recorded(job, 4, [host for host in CLUSTER.hosts() for _ in range(2)])
        self.assertEqual(job.local_ranks(), [0, 1, 0, 1])

    def test_the_batch_script_itself_is_not_rank_0_of_4(self):
        job = self.submit("one_process.sbatch", *self.trainer("--ranks", "2", "--steps", "20"),
                          options=["--nodelist=n1", "--ntasks=4"])
        self.assert_recorded(job, 2, CLUSTER.hosts()[:1] * 2)

    def test_tasks_of_srun_find_their_place_without_variables_of_ours(self):
        if not CLUSTER.own_names:
            self.skipTest("the names of the nodes lead nowhere on this machine (needs namespaces, so root)")
        job = self.submit('srun "$RANKSCOPE" train --steps 20\n', options=["--nodes=2", "--ntasks-per-node=2"])
        self.assert_recorded(job, 4, [host for host in CLUSTER.hosts() for _ in range(2)])
        self.assertEqual(job.local_ranks(), [0, 1, 0, 1])

    def test_world_size_alone_is_enough_in_a_step_of_that_size(self):
        for tasks in (1, 2):
            with self.subTest(tasks=tasks):
                job = self.submit("export WORLD_SIZE=$SLURM_NTASKS\n"
                                  'srun "$RANKSCOPE" train --out $WORLD_SIZE.rankscope --steps 20\n',
                                  options=["--nodelist=n1", f"--ntasks={tasks}"])
                self.assertEqual(job.status, 0, job.said)
                job.recording = lambda: self.folder / f"{tasks}.rankscope"
                self.assert_recorded(job, tasks, CLUSTER.hosts()[:1] * tasks)

    def test_a_rank_that_dies_is_named_by_the_others_and_by_the_report(self):
        job = self.submit("one_node_srun.sbatch", *self.trainer("--steps", "20", "--fault", "kill:rank=1,step=3"),
                          options=["--nodelist=n1", "--ntasks=3"])
        self.assertEqual(job.status, 137, job.said)
        self.assertIn("rank 1 is gone", job.said)
        lost = [finding for finding in job.report()["findings"] if finding["id"].startswith("rank_lost")]
        self.assertEqual(len(lost), 1, job.said)
        self.assertIn("1", lost[0]["title"])

    def test_a_rank_that_is_killed_is_named_when_the_job_has_ended(self):
        job = self.submit("hang.sbatch", *self.trainer("--steps", "20", "--fault", "kill:rank=1,step=3"))
        self.assertEqual(job.status, 137, job.said)
        self.assertIn("The job crashed.", job.said)
        self.assertIn("Rank 1 was killed in step 3", job.said)

    def test_a_job_that_is_cancelled_is_recorded_and_reported(self):
        for script, options in (("one_process.sbatch", []), ("several_nodes_srun.sbatch", ["--nodes=2"])):
            with self.subTest(script=script):
                job = self.submit(script, *self.trainer("--steps", "100000", "--log-every", "10"), options=options,
                                  cancel_when="step    20")
                self.assertNotEqual(job.status, 0, job.said)
                self.assertIn("VERDICT", job.said)
                shutil.rmtree(job.recording())

    def test_what_is_missing_is_said(self):
        for script in sorted(SAMPLES.glob("*.sbatch")):
            with self.subTest(script=script.name):
                job = self.submit(script.name, RANKSCOPE="/nonexistent/rankscope", options=["--nodelist=n1", "--nodes=1"])
                self.assertEqual(job.status, 2, job.said)
                self.assertIn("/nonexistent/rankscope is not a program", job.said)
                alone = subprocess.run(["bash", script], capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
                self.assertNotEqual(alone.returncode, 0)
                self.assertIn("submit this script with sbatch", alone.stderr)

    def test_every_script_is_run_here(self):
        tests = pathlib.Path(__file__).read_text()
        self.assertEqual([path.name for path in SAMPLES.glob("*.sbatch") if f'submit("{path.name}"' not in tests], [])


class Torchrun(OnSlurm):
    def submit(self, script, *arguments, **named):
        return super().submit(script, *arguments, PATH=f"{TORCHRUN}:{os.environ['PATH']}", **named)

    def test_one_node(self):
        job = self.submit("one_node_torchrun.sbatch", options=["--nodelist=n2"])
        self.assert_recorded(job, 2, CLUSTER.hosts()[1:] * 2)
        self.assertEqual(job.local_ranks(), [0, 1])
        self.assertEqual(job.launcher(), "torchrun")

    def test_several_nodes(self):
        job = self.submit("several_nodes_torchrun.sbatch")
        self.assertEqual(job.status, 0, job.said)
        first = job.report()["ranks"][0]["host"]  # which node has ranks 0 and 1 is torchrun's choice
        self.assert_recorded(job, 4, [host for host in sorted(CLUSTER.hosts(), key=lambda host: host != first) for _ in range(2)])
        self.assertEqual(job.local_ranks(), [0, 1, 0, 1])

    def test_a_pytorch_program(self):
        job = self.submit("several_nodes_srun.sbatch", "python3", str(SOURCE / "samples/pytorch_ddp.py"), "--steps", "5")
        self.assertEqual(job.status, 0, job.said)
        self.assertIn("4 ranks", job.said)

    def test_a_rank_that_dies_ends_the_job_and_is_named(self):
        job = self.submit("one_node_torchrun.sbatch", *self.trainer("--steps", "20", "--fault", "kill:rank=1,step=3"),
                          options=["--nodelist=n1"])
        self.assertEqual(job.status, 1, job.said)
        self.assertIn("rank      : 1 (local_rank: 1)\n  exitcode  : -9", job.said)  # torchrun ends the others before they can say it
        lost = [finding["title"] for finding in job.report()["findings"] if finding["id"].startswith("rank_lost")]
        self.assertEqual(lost, ["rank 1 was killed by SIGKILL in step 3"], job.said)


def folder_of_torchrun():
    """As tests/cli/pytorch_test.cpp finds it."""
    folder = pathlib.Path(os.environ.get("RANKSCOPE_PYTORCH_BIN", SOURCE / ".venv/bin"))
    works = (folder / "python3").exists() and subprocess.run(
        [folder / "python3", "-c", "import torch, torch.distributed"], capture_output=True).returncode == 0
    if not works:
        raise CannotRun("`import torch` does not work here, so there is no torchrun: scripts/setup --with-pytorch")
    return folder


if __name__ == "__main__":
    RANKSCOPE, SAMPLES = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    kind = {"srun": Srun, "torchrun": Torchrun}[sys.argv[3]]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # through __exit__, which stops the daemons
    try:
        TORCHRUN = folder_of_torchrun() if kind is Torchrun else None
        with tempfile.TemporaryDirectory(prefix="rankscope-slurm-") as scratch, Cluster(scratch) as CLUSTER:
            loader = unittest.defaultTestLoader
            tests = loader.loadTestsFromNames(sys.argv[4:], kind) if sys.argv[4:] else loader.loadTestsFromTestCase(kind)
            result = unittest.TextTestRunner(verbosity=2).run(tests)
    except CannotRun as why:
        print(f"slurm_test: cannot run: {why}")
        sys.exit(CANNOT_RUN)
    sys.exit(not result.wasSuccessful())
