"""What scripts/gpu-check concludes, on pairs of traces made here; and that it refuses where there is no GPU."""
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True
SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
import gpu_compare  # noqa: E402
from gpu_compare import Check  # noqa: E402


def event(name, begin_us, us, stream=7, cat="kernel", **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": begin_us, "dur": us, "args": {"stream": stream, **args}}


def trace(*events):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "trace.json")
        path.write_text(json.dumps({"traceEvents": [{"ph": "M", "name": "process_name", "pid": 0}, *events]}))
        return gpu_compare.load(path)


MARKER = event("at::cuda::(anonymous namespace)::spin_kernel(long)", 100, 1)
WORK = (event("gemm<float, 4>", 110, 20.5), event("gemm<float, 4>", 140, 20.5), event("relu", 135, 3, stream=8),
        event("Memcpy HtoD (Pinned -> Device)", 170, 5, cat="gpu_memcpy", bytes=4096), event("Memset (Device)", 180, 2, cat="gpu_memset", bytes=64))


def failures(ours, theirs):
    return [check.what for check in gpu_compare.compare(trace(*ours), trace(*theirs)) if check.passed is not True]


def changed(place, **what):
    work = [dict(one, args=dict(one["args"])) for one in (MARKER, *WORK)]
    work[place] = {**work[place], **what}
    return work


class Compared(unittest.TestCase):
    theirs = (MARKER, *WORK)

    def test_equal_traces_pass(self):
        self.assertEqual(failures(self.theirs, self.theirs), [])

    def test_what_is_before_the_marker_does_not_matter(self):
        self.assertEqual(failures((event("warmup", 5, 3), *self.theirs), self.theirs), [])

    def test_streams_may_have_other_numbers_and_names_other_blanks(self):
        ours = [dict(one, args={**one["args"], "stream": one["args"]["stream"] + 20}) for one in self.theirs]
        ours[1] = {**ours[1], "name": "gemm<float,4>"}
        self.assertEqual(failures(ours, self.theirs), [])

    def test_a_missing_kernel(self):
        self.assertIn("as many of each kernel as Kineto", failures([*self.theirs[:2], *self.theirs[3:]], self.theirs))

    def test_another_order(self):
        ours = changed(1, ts=165)
        ours[3] = {**ours[3], "args": {"stream": 7}}
        theirs = changed(3, args={"stream": 7})
        self.assertEqual(failures(ours, theirs), ["in the same order on each stream"])

    def test_longer_durations(self):
        self.assertEqual(failures(changed(3, dur=3.19), self.theirs), [], "200 ns are allowed")
        self.assertEqual(failures(changed(3, dur=3.21), self.theirs), ["median durations within 2 % or 200 ns of Kineto's"])

    def test_other_bytes(self):
        self.assertEqual(failures(changed(4, args={"stream": 7, "bytes": 4095}), self.theirs), ["as many bytes copied and filled as Kineto"])

    def test_nothing_recorded_or_no_marker_is_no_success(self):
        self.assertEqual(failures(WORK, self.theirs), ["both recordings have the marker"])
        self.assertIn("as many of each kernel as Kineto", failures([MARKER], [MARKER]))

    def test_times_keep_their_nanoseconds(self):
        self.assertEqual(gpu_compare.nanoseconds("1700000000123456.789"), 1700000000123456789)
        self.assertEqual(gpu_compare.nanoseconds("12.5"), 12500)
        self.assertEqual(gpu_compare.nanoseconds(7), 7000)


class Counted(unittest.TestCase):
    told = {"kernels": {"axpy": 2, "spin": 1}, "copies": {"HtoD": [1, 4096]}, "memsets": [1, 64], "at_least_ns": {"spin": 50000}}
    events = (event("axpy", 0, 3), event("axpy", 10, 3), event("spin", 20, 50.1, stream=8), *WORK[3:])

    def failures(self, events):
        return [check.what for check in gpu_compare.check_counts(trace(*events), self.told) if not check.passed]

    def test_all_there(self):
        self.assertEqual(self.failures(self.events), [])

    def test_what_is_missing_too_short_or_too_many_is_named(self):
        self.assertEqual(self.failures(self.events[1:]), ["each kernel of the CUDA program was recorded"])
        self.assertEqual(self.failures([*self.events[:2], event("spin", 20, 47, stream=8), *self.events[3:]]), ["spin lasts as long as it says"])
        self.assertEqual(self.failures(self.events[:4]), ["each memset, with its bytes"])
        overlapping = [event("axpy", 1, 3), *self.events[1:], event("axpy", 2, 3)]
        self.assertIn("one thing at a time on each stream", self.failures(overlapping))


# As `rankscope export --to sqlite` has it, as far as gpu-check reads.
SAMPLED = """
    CREATE TABLE strings (id, text); INSERT INTO strings VALUES (1, 'GPU 0 sm_active_percent'), (2, 'rss_bytes'), (3, 'pm_problem'), (4, 'why');
    CREATE TABLE span_list (kind, begin_ns, duration_ns); INSERT INTO span_list VALUES ('compute', 5, 3), ('op', 1, 9);
    CREATE TABLE counters (id, name_id); INSERT INTO counters VALUES (1, 1), (2, 2);
    CREATE TABLE samples (counter_id, time_ns, value); INSERT INTO samples VALUES (1, 7, 50.0), (2, 7, 99.0), (1, 3, 20.0);
    CREATE TABLE process_metadata (process_id, key_id, value_id);
"""


class Sampled(unittest.TestCase):
    kernels = [(1000, 1500), (2000, 2500)]

    def passed(self, samples, kernels=None, problem=""):
        return [check.passed for check in gpu_compare.check_samples(self.kernels if kernels is None else kernels, samples, problem)]

    def test_an_sm_that_is_active_only_while_kernels_run(self):
        self.assertEqual(self.passed([(0, 0.0), (900, 40.0), (1800, 100.0), (2700, 0.0)]), [True, True])

    def test_one_that_is_never_active_then_or_too_active(self):
        self.assertEqual(self.passed([(-1800, 9.0), (-900, 9.0), (900, 0.0), (1800, 0.0), (2700, 9.0)]), [False, True])
        self.assertEqual(self.passed([(900, 40.0), (1800, 250.0)]), [True, False])

    def test_nothing_recorded_is_no_success_and_no_permission_no_failure(self):
        self.assertEqual(self.passed([]), [False])
        self.assertEqual(self.passed([(900, 40.0), (1800, 50.0)], kernels=[]), [False])
        self.assertEqual(self.passed([], problem="this user may not read the GPU's counters"), [None])
        self.assertEqual(self.passed([], problem="CUPTI refused reading the counters of GPU 0: CUPTI_ERROR_UNKNOWN"), [False])

    def test_they_are_read_from_an_export(self):
        with tempfile.TemporaryDirectory() as folder:
            database = pathlib.Path(folder, "run.sqlite")
            connection = sqlite3.connect(database)
            connection.executescript(SAMPLED)
            self.assertEqual(gpu_compare.sampled(database), ([(5, 8)], [(3, 20.0), (7, 50.0)], ""))
            connection.execute("INSERT INTO process_metadata VALUES (1, 3, 4)")
            connection.commit()
            connection.close()
            self.assertEqual(gpu_compare.sampled(database)[2], "why")


class Overhead(unittest.TestCase):
    def passed(self, alone, recorded, operators, kineto):
        runs = {"alone": [alone], "recorded": [recorded], "with --pytorch": [operators], "torch.profiler": [kineto]}
        return [check.passed for check in gpu_compare.overhead(runs)]

    def test_within_a_percent_and_below_kineto(self):
        self.assertEqual(self.passed([1000, 1000, 9000], [1005] * 3, [1090] * 3, [1100] * 3), [True, True])
        self.assertEqual(self.passed([1000] * 3, [1020] * 3, [1110] * 3, [1100] * 3), [False, False])


class Evidence(unittest.TestCase):
    def test_the_page_tells_what_failed_and_what_could_not_be_tried(self):
        page = gpu_compare.evidence([("device", "NVIDIA H100"), ("driver", "580")],
                                    [("Kernels", [Check("a", True, "3 | 3"), Check("b", False, "gone"), Check("c", None, "no time")])])
        self.assertIn("# On NVIDIA H100\n", page)
        self.assertIn("1 checks passed, 1 failed, 1 could not be tried", page)
        self.assertIn("| a | passed | 3 \\| 3 |\n| b | **failed** | gone |\n| c | not tried | no time |", page)

    def test_the_name_of_the_file(self):
        self.assertEqual(gpu_compare.device_slug("NVIDIA H100 80GB HBM3"), "h100-80gb-hbm3")


class Refusal(unittest.TestCase):
    def run_check(self, *words, path="/nowhere"):
        return subprocess.run([sys.executable, "-B", SCRIPTS / "gpu-check", *words], capture_output=True, text=True, env={**os.environ, "PATH": path})

    def test_without_a_gpu_it_says_so_and_checks_nothing(self):
        with tempfile.NamedTemporaryFile() as bundle:
            result = self.run_check(bundle.name)
        self.assertEqual(result.returncode, 77)
        self.assertEqual(result.stdout, "gpu-check: no NVIDIA GPU here (there is no nvidia-smi); nothing was checked\n")

    def test_a_driver_that_finds_none(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as bundle:
            tool = pathlib.Path(folder, "nvidia-smi")
            tool.write_text("#!/bin/sh\necho 'No devices were found'\n")
            tool.chmod(0o755)
            result = self.run_check(bundle.name, path=folder)
        self.assertEqual(result.returncode, 77)
        self.assertIn("(nvidia-smi finds none: No devices were found)", result.stdout)

    def test_wrong_options_and_what_is_no_bundle(self):
        self.assertEqual(self.run_check("/no/such.tar.xz").returncode, 2)
        with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as bundle:
            tool = pathlib.Path(folder, "nvidia-smi")
            tool.write_text("#!/bin/sh\necho 'NVIDIA H100, 580.1'\n")
            tool.chmod(0o755)
            result = self.run_check(bundle.name, path=folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("is no bundle", result.stderr)


# A bundle of stand-ins: a recorder that runs the command and "exports" a trace that was made here, and programs that say what
# the real ones say.
RECORDER = """#!/usr/bin/env python3
import json, pathlib, sqlite3, subprocess, sys
home, (verb, *words) = pathlib.Path(__file__).resolve().parents[1], sys.argv[1:]
after = lambda option: words[words.index(option) + 1]
if verb == "--version":
    print("rankscope 1.2.3")
elif verb == "record":
    pathlib.Path(after("--out")).mkdir()
    command = words[words.index("--") + 1:]
    sys.exit(0 if "torch.distributed.run" in command else subprocess.run(command).returncode)
elif verb == "train" and "--share-gpu" in words and "pp" in words:
    print("rankscope-train: Error: Duplicate GPU detected", file=sys.stderr)
    sys.exit(4)
elif verb == "train":
    loss = WRONG_LOSS if "tp" in words and "cuda" in words else 2.0
    pathlib.Path(after("--dump-gradients")).write_text(f"step 0\\ngradient w 1 2\\nloss {loss}\\n")
    print("rankscope: recorded 2 processes", file=sys.stderr)
elif verb == "export" and after("--to") == "sqlite":
    sqlite3.connect(words[-1]).executescript((home / "sampled.sql").read_text())
elif verb == "export":
    kind = "cuda" if pathlib.Path(words[0]).name.startswith("cuda") else "pytorch"
    pathlib.Path(words[-1]).write_text((home / (kind + ".json")).read_text())
elif verb == "report":
    print(json.dumps({"run": {"ranks": 2}, "steps": [{}] * 208, "collectives": {"matched": 40, "unmatched": 0},
                      "data_quality": [{"counter": "rank_unknown", "value": 1, "severity": "info"}]}))
elif verb == "pack":
    pathlib.Path(words[1]).write_text("packed")
"""
RECORDER_OF_A_WRONG_TRAINER = RECORDER.replace("WRONG_LOSS", "2.001")
RECORDER = RECORDER.replace("WRONG_LOSS", "2.0")
KERNELS = """#!/usr/bin/env python3
print('{"kernels": {"axpy": 2, "spin": 1}, "copies": {"HtoD": [1, 4096]}, "memsets": [1, 64], "at_least_ns": {"spin": 50000}, "loop_ns": 1000}')
"""
TRAIN = """import json, pathlib, sys
home = pathlib.Path(__file__).resolve().parents[1]
if "--kineto" in sys.argv:
    pathlib.Path(sys.argv[sys.argv.index("--kineto") + 1]).write_text((home / "kineto.json").read_text())
print(json.dumps({"step_ns": [2000 if "--kineto" in sys.argv else 1000] * 3}))
"""


class WholeCheck(unittest.TestCase):
    def check(self, cuda, ours, theirs, recorder=RECORDER):
        """Status, output and the files of a check with these traces."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            home = folder / "rankscope-1.2.3-linux-x86_64"
            for name, text in {"bin/rankscope": recorder, "bin/rankscope-train": "", "gpu/kernels": KERNELS, "gpu/train.py": TRAIN}.items():
                (home / name).parent.mkdir(parents=True, exist_ok=True)
                (home / name).write_text(text)
                (home / name).chmod(0o755)
            (home / "sampled.sql").write_text(SAMPLED)
            for name, events in (("cuda", cuda), ("pytorch", ours), ("kineto", theirs)):
                (home / f"{name}.json").write_text(json.dumps({"traceEvents": events}))
            tool = folder / "tools/nvidia-smi"
            tool.parent.mkdir()
            tool.write_text("#!/bin/sh\necho 'NVIDIA H100 80GB HBM3, 580.159'\n")
            tool.chmod(0o755)
            with tarfile.open(folder / "bundle.tar.xz", "w:xz") as archive:
                archive.add(home, home.name)
            result = subprocess.run([sys.executable, "-B", SCRIPTS / "gpu-check", folder / "bundle.tar.xz", "--out", folder / "out"],
                                    capture_output=True, text=True, env={**os.environ, "PATH": f"{tool.parent}:{os.environ['PATH']}"})
            files = {path.name: path.read_text() for path in (folder / "out").iterdir()} if (folder / "out").exists() else {}
            return result.returncode, result.stdout + result.stderr, files

    def test_all_that_passes_is_on_the_page(self):
        status, said, files = self.check(list(Counted.events), [MARKER, *WORK], [MARKER, *WORK])
        self.assertEqual(status, 0, said)
        self.assertEqual(sorted(files), ["cuda.rankscope.tar.zst", "gpu-h100-80gb-hbm3.md"])
        page = files["gpu-h100-80gb-hbm3.md"]
        self.assertIn("| as many of each kernel as Kineto | passed | 3 in both |", page)
        self.assertIn("| an SM is active while kernels run | passed | 2 of 2 samples while kernels ran, 20.0 to 50.0 % |", page)
        self.assertIn("| all collectives of NCCL are matched | passed | 40 matched, 0 not |", page)
        self.assertIn("| train --ranks 2 --parallel ddp --share-gpu --timeout 40 has the losses of the CPU | passed | 1 steps, at most 0.0e+00 apart |", page)
        self.assertIn("| train --ranks 2 --parallel pp --share-gpu --timeout 40 has the losses of the CPU | not tried | "
                      "not seen: rankscope-train: Error: Duplicate GPU detected |", page)
        self.assertIn("| rankscope | rankscope 1.2.3 |", page)

    def test_what_fails_is_on_the_page_and_in_the_status(self):
        status, said, files = self.check(list(Counted.events[1:]), [MARKER, *WORK[1:]], [MARKER, *WORK])
        self.assertEqual(status, 1, said)
        page = files["gpu-h100-80gb-hbm3.md"]
        self.assertIn("| each kernel of the CUDA program was recorded | **failed** |", page)
        self.assertIn("| as many of each kernel as Kineto | **failed** | gemm<float,4>: 1 and 2 |", page)

    def test_a_trainer_with_other_losses_on_the_gpu_fails(self):
        status, said, files = self.check(list(Counted.events), [MARKER, *WORK], [MARKER, *WORK], RECORDER_OF_A_WRONG_TRAINER)
        self.assertEqual(status, 1, said)
        self.assertIn("--parallel tp --share-gpu --timeout 40 has the losses of the CPU | **failed** | 1 steps, at most 5.0e-04 apart |",
                      files["gpu-h100-80gb-hbm3.md"])


if __name__ == "__main__":
    unittest.main()
