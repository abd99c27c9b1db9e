"""What scripts/gpu-check concludes, on pairs of traces made here; and that it refuses where there is no GPU."""
import json
import os
import pathlib
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
import json, pathlib, subprocess, sys
home, (verb, *words) = pathlib.Path(__file__).resolve().parents[1], sys.argv[1:]
after = lambda option: words[words.index(option) + 1]
if verb == "--version":
    print("rankscope 1.2.3")
elif verb == "record":
    pathlib.Path(after("--out")).mkdir()
    command = words[words.index("--") + 1:]
    sys.exit(0 if "torch.distributed.run" in command else subprocess.run(command).returncode)
elif verb == "train":
    print("rankscope: recorded 2 processes", file=sys.stderr)
elif verb == "export":
    kind = "cuda" if pathlib.Path(words[0]).name.startswith("cuda") else "pytorch"
    pathlib.Path(words[-1]).write_text((home / (kind + ".json")).read_text())
elif verb == "report":
    print(json.dumps({"run": {"ranks": 2}, "steps": [{}] * 208, "collectives": {"matched": 40, "unmatched": 0},
                      "data_quality": [{"counter": "rank_unknown", "value": 1, "severity": "info"}]}))
elif verb == "pack":
    pathlib.Path(words[1]).write_text("packed")
"""
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
    def check(self, cuda, ours, theirs):
        """Status, output and the files of a check with these traces."""
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            home = folder / "rankscope-1.2.3-linux-x86_64"
            for name, text in {"bin/rankscope": RECORDER, "bin/rankscope-train": "", "gpu/kernels": KERNELS, "gpu/train.py": TRAIN}.items():
                (home / name).parent.mkdir(parents=True, exist_ok=True)
                (home / name).write_text(text)
                (home / name).chmod(0o755)
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
        self.assertIn("| all collectives of NCCL are matched | passed | 40 matched, 0 not |", page)
        self.assertIn("| the reference trainer trains on the GPU | not tried | it has no CUDA mode |", page)
        self.assertIn("| rankscope | rankscope 1.2.3 |", page)

    def test_what_fails_is_on_the_page_and_in_the_status(self):
        status, said, files = self.check(list(Counted.events[1:]), [MARKER, *WORK[1:]], [MARKER, *WORK])
        self.assertEqual(status, 1, said)
        page = files["gpu-h100-80gb-hbm3.md"]
        self.assertIn("| each kernel of the CUDA program was recorded | **failed** |", page)
        self.assertIn("| as many of each kernel as Kineto | **failed** | gemm<float,4>: 1 and 2 |", page)


if __name__ == "__main__":
    unittest.main()
