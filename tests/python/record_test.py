"""record() and the annotations: a program that records itself."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import rankscope
from rankscope import annotate
import support
from support import ROOT

PROGRAM = '''
import sys, time
import rankscope
from rankscope import annotate
print("begins", flush=True)
with rankscope.record(sys.argv[1]) as recording:
    annotate.metadata("model", "tiny")
    for index in range(6):
        with annotate.step(index):
            with annotate.range("load", kind="data", samples=3, source="disk"):
                time.sleep(0.001)
            with annotate.range("work", kind="forward"):
                time.sleep(0.002)
            with annotate.collective("allreduce", group="dp", members=[0], bytes=64, dtype="f32"):
                pass
        annotate.counter("queue_bytes", index)
        annotate.mark("saved")
    print("recording" if recording else "not recording")
'''


class Record(unittest.TestCase):
    def start(self, folder, **variables):
        program = pathlib.Path(folder, "train.py")
        program.write_text(PROGRAM)
        return subprocess.run([sys.executable, "-B", program, pathlib.Path(folder, "r.rankscope")], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python"), **variables}, timeout=100)

    def test_a_program_records_itself_and_what_it_says(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.start(folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.split(), ["begins", "begins", "recording"])
            run = rankscope.open(pathlib.Path(folder, "r.rankscope"))
        self.assertEqual(run.table("rank_steps").to_pydict()["step"], [0, 1, 2, 3, 4, 5])
        spans = run.table("spans", columns=["name", "kind"]).to_pydict()
        self.assertEqual(sorted(set(zip(spans["name"], spans["kind"])) & {("load", "data"), ("work", "forward"), ("recorded", "user")}),
                         [("load", "data"), ("recorded", "user"), ("work", "forward")])
        attributes = run.table("span_attributes").to_pydict()
        self.assertEqual(dict(zip(attributes["key"], attributes["number"]))["samples"], 3)
        self.assertIn("disk", attributes["text"])
        collectives = run.table("collectives", columns=["op", "group", "sequence", "bytes", "state"]).to_pydict()
        self.assertEqual(collectives["sequence"], list(range(6)))
        self.assertEqual(set(zip(collectives["op"], collectives["group"], collectives["bytes"], collectives["state"])),
                         {("allreduce", "dp", 64, "finished")})
        self.assertIn("saved", run.table("marks").to_pydict()["name"])
        self.assertIn("queue_bytes", run.table("counters").to_pydict()["name"])

    def test_one_of_several_processes_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.start(folder, WORLD_SIZE="4")
        self.assertIn("put the recorder before the launcher", done.stderr)

    def test_a_program_that_is_not_recorded_is_not_started_for_ever(self):
        with tempfile.TemporaryDirectory() as folder:
            recorder = pathlib.Path(folder, "recorder")  # starts the command without recording it
            recorder.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
            recorder.chmod(0o755)
            done = self.start(folder, RANKSCOPE_PROGRAM=str(recorder))
            self.assertIn("does not record it", done.stderr)
            self.assertEqual(done.stdout.split(), ["begins", "begins"])
            program = pathlib.Path(folder, "train.py")
            program.write_text(PROGRAM.replace("sys.argv[1])", "sys.argv[1], '--or-run')"))
            done = subprocess.run([sys.executable, "-B", program, "r"], capture_output=True, text=True, timeout=100,
                                  env={**os.environ, "PYTHONPATH": str(ROOT / "python"), "RANKSCOPE_PROGRAM": str(recorder)})
            self.assertEqual(done.stdout.split(), ["begins", "begins", "not", "recording"], done.stderr)

    def test_without_a_script_it_is_refused(self):
        done = subprocess.run([sys.executable, "-B", "-c", "import rankscope\nwith rankscope.record('x'): pass"], capture_output=True, text=True,
                              env={**os.environ, "PYTHONPATH": str(ROOT / "python")})
        self.assertIn("must be a script", done.stderr)

    def test_numbers_and_texts_out_of_bounds_are_refused(self):
        table = unittest.mock.MagicMock()
        members = {"group": "dp", "members": [0, 1], "bytes": 8}
        with unittest.mock.patch.object(annotate, "_found", table):
            for wrong in ({"bytes": -1}, {"bytes": 1 << 64}, {"members": [-1]}, {"members": [0.5]}, {"sequence": -1}, {"peer": 1 << 40}, {"group": "a\0b"}):
                with self.assertRaises(rankscope.UsageError):
                    with annotate.collective("allreduce", **{**members, **wrong}):
                        pass
            for wrong in (lambda: annotate.step(-1), lambda: annotate.step(1.5), lambda: annotate.mark("a\0")):
                self.assertRaises(rankscope.UsageError, wrong)
            with self.assertRaises(rankscope.UsageError):
                with annotate.range("x", count=1 << 63):
                    pass
            table.push.assert_called_once()
            table.pop.assert_called_once()
            table.collective_enqueued.assert_not_called()

    def test_unrecorded_annotations_do_nothing(self):
        self.assertFalse(annotate.recording())
        with annotate.step(1), annotate.range("x"), annotate.collective("allreduce", group="dp", members=[0], bytes=1):
            annotate.mark("m")
            annotate.counter("c_bytes", 1)
        with self.assertRaises(rankscope.UsageError):
            with annotate.range("x", kind="bake"):
                pass


if __name__ == "__main__":
    support.main()
