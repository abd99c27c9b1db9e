"""trace_handler in a real job: torchrun with 4 processes on Gloo, one of them slow; the printed report names it."""
import os
import pathlib
import subprocess
import tempfile
import unittest

import rankscope
import support
from support import ROOT

TORCHRUN = ROOT / ".venv/bin/torchrun"
PROGRAM = '''
import faulthandler, os
faulthandler.dump_traceback_later(300, exit=True)  # says where a job hangs, and ends it
import torch, torch.distributed as dist
import rankscope.torch
torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
work = torch.randn(160, 160)
schedule = torch.profiler.schedule(wait=1, warmup=1, active=int(os.environ["ACTIVE"]), repeat=1)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=schedule, record_shapes=True,
                            on_trace_ready=rankscope.torch.trace_handler(os.environ["TRACES"])) as profiler:
    for step in range(int(os.environ["ACTIVE"]) + 3):
        for _ in range(240 if rank == 2 else 40):
            work = torch.tanh(work @ work)
        dist.all_reduce(work)
        profiler.step()
dist.destroy_process_group()
'''


@unittest.skipUnless((ROOT / ".venv/.with-pytorch").exists() and TORCHRUN.exists(), "PyTorch is not installed (scripts/setup --with-pytorch)")
class Job(unittest.TestCase):
    def job(self, ranks, active):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "train.py")
            program.write_text(PROGRAM)
            environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "TRACES": str(pathlib.Path(folder, "traces")), "ACTIVE": str(active),
                           "OMP_NUM_THREADS": "1"}
            job = subprocess.Popen([TORCHRUN, "--nproc-per-node", str(ranks), "--standalone", program], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=environment)
            try:
                _, said = job.communicate(timeout=400)
            except subprocess.TimeoutExpired:
                job.terminate()  # it ends its processes, too
                job.communicate(timeout=60)
                raise
            self.assertEqual(job.returncode, 0, said)
            self.assertTrue(pathlib.Path(folder, "traces/report.html").exists(), said)
            with rankscope.open(pathlib.Path(folder, "traces/window_1")) as run:
                self.assertEqual(run.ranks, list(range(ranks)))
            return said

    def test_the_printed_verdict_names_the_slow_one_of_four_ranks(self):
        said = self.job(4, active=12)
        self.assertIn("Rank 2 is slow", said)

    def test_two_ranks_are_reported_once(self):
        said = self.job(2, active=3)
        self.assertEqual(said.count("the whole report is in"), 1)


if __name__ == "__main__":
    support.main()
