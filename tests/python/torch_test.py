"""trace_handler: where traces are written, which ranks are missing, and what is said at the end."""
import gzip
import io
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import rankscope
from rankscope.torch import TraceHandler, trace_handler
import support


class Stub:
    """A profiler whose trace is a text."""

    def export_chrome_trace(self, path):
        pathlib.Path(path).write_bytes(b"{}")


class Handler(unittest.TestCase):
    def test_each_window_and_rank_has_its_place(self):
        with tempfile.TemporaryDirectory() as folder:
            handler = trace_handler(folder, report="never", wait_s=0)
            handler(Stub())
            handler(Stub())
            self.assertEqual(sorted(str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*") if path.is_file()),
                             ["window_1/rank_0.json.gz", "window_2/rank_0.json.gz"])
            with self.assertRaises(rankscope.UsageError) as caught:
                trace_handler(folder)
            self.assertIn("folder of its own", str(caught.exception))

    def test_missing_ranks_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            handler = TraceHandler(folder, "never", False, 0, None)
            handler.ranks = lambda: (0, 3)
            handler(Stub())
            with self.assertRaises(rankscope.CannotTellError) as caught:
                handler.run()
            self.assertIn("ranks 1, 2", str(caught.exception))
            self.assertRaises(rankscope.UsageError, handler.run, 2)

    def test_ranks_are_those_of_the_launcher(self):
        for variables, expected in (({"SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "4"}, (3, 4)), ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4"}, (0, 1)),
                                    ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, (1, 2)), ({"PMI_RANK": "1", "PMI_SIZE": "2"}, (1, 2)),
                                    ({"RANK": "9" * 5000, "WORLD_SIZE": "4"}, (0, 1)), ({"RANK": "1", "WORLD_SIZE": "2", "PMI_RANK": "0", "PMI_SIZE": "1"}, (1, 2))):
            with unittest.mock.patch.dict(os.environ, variables, clear=True), tempfile.TemporaryDirectory() as folder:
                self.assertEqual(trace_handler(folder, report="never").ranks(), expected, variables)

    def test_a_restarted_job_has_a_folder_of_its_own(self):
        with tempfile.TemporaryDirectory() as folder:
            trace_handler(folder, report="never")(Stub())
            with unittest.mock.patch.dict(os.environ, {"TORCHELASTIC_RESTART_COUNT": "2"}):
                trace_handler(folder, report="never")(Stub())
            self.assertTrue(pathlib.Path(folder, "restart_2/window_1/rank_0.json.gz").exists())

    def test_two_handlers_never_replace_a_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            first, second = trace_handler(folder, report="never"), trace_handler(folder, report="never")
            first(Stub())
            with self.assertRaises(rankscope.UsageError) as caught:
                second(Stub())
            self.assertIn("another handler", str(caught.exception))

    def test_a_rank_that_fails_does_not_wait(self):
        program = ("import os, sys\n"
                   "os.environ.update(RANK='0', WORLD_SIZE='2')\n"
                   "import rankscope.torch\n"
                   "class Stub:\n"
                   "    def export_chrome_trace(self, path): open(path, 'w').write('{}')\n"
                   "rankscope.torch.trace_handler(sys.argv[1], wait_s=600)(Stub())\n"
                   "raise RuntimeError('lost')\n")
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, "-c", program, folder], capture_output=True, text=True, timeout=100)
        self.assertIn("there is no trace of rank 1", done.stderr)

    def test_whatever_goes_wrong_with_the_report_is_said(self):
        out = io.StringIO()
        with tempfile.TemporaryDirectory() as folder:
            handler = TraceHandler(folder, "never", False, 0, out)
            handler.run = lambda: 1 // 0
            handler._report()
        self.assertIn("no report could be made: ZeroDivisionError", out.getvalue())

    def test_a_trace_has_the_name_of_its_host(self):
        class Profiler:
            def __init__(self, text):
                self.text = text

            def export_chrome_trace(self, path):
                pathlib.Path(path).write_text(self.text)
        for text, host in (('\n {\n "schemaVersion": 1, "traceEvents": []}', socket.gethostname()), ('{"host_name": "n7", "traceEvents": []}', "n7")):
            with tempfile.TemporaryDirectory() as folder:
                trace_handler(folder, report="never")(Profiler(text))
                with gzip.open(pathlib.Path(folder, "window_1/rank_0.json.gz")) as trace:
                    self.assertEqual(json.load(trace), {**json.loads(text), "host_name": host})

    def test_a_failed_export_leaves_nothing(self):
        class Failing:
            def export_chrome_trace(self, path):
                raise RuntimeError("no")
        with tempfile.TemporaryDirectory() as folder:
            handler = trace_handler(folder, report="never")
            self.assertRaises(RuntimeError, handler, Failing())
            self.assertEqual([path for path in pathlib.Path(folder).rglob("*") if path.is_file()], [])


if __name__ == "__main__":
    support.main()
