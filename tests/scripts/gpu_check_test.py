"""All of scripts/gpu-check, from a bundle to its page, with everything played that needs a GPU (tests/scripts/fakes); and
that it refuses where there is none."""
import contextlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE.parents[1] / "scripts"
PAGE = "gpu-h100-80gb-hbm3.md"

# gpu-check with shorter limits, and with what a test puts before it.
START = """
import importlib.machinery, importlib.util, sys
sys.path.insert(0, {scripts!r})
import gpu_cuda, gpu_page, gpu_torch, gpu_trainer
loader = importlib.machinery.SourceFileLoader("gpu_check", {scripts!r} + "/gpu-check")
gpu_check = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
loader.exec_module(gpu_check)
gpu_cuda.ROUNDS = gpu_torch.ROUNDS = 2
{before}
jobs_of, wanted = gpu_check.jobs_of, {only!r}
gpu_check.jobs_of = lambda *given: [job for job in jobs_of(*given) if any(job.title.startswith(one) for one in wanted)]
sys.exit(gpu_check.main())
"""


def event(name, begin_us, us, stream=7, cat="kernel", **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": begin_us, "dur": us, "args": {"stream": stream, **args}}


WORK = [event("at::cuda::spin_kernel(long)", 100, 1), event("gemm<float, 4>", 110, 20.5), event("gemm<float, 4>", 140, 20.5),
        event("Memcpy HtoD (Pinned -> Device)", 170, 5, cat="gpu_memcpy", bytes=4096)]


def make_bundle(folder, ours, without=()):
    home = folder / "rankscope-1.2.3-linux-x86_64"
    shutil.copytree(HERE / "fakes/bin", home / "bin")
    shutil.copytree(HERE / "fakes/gpu", home / "gpu")
    (home / "bin/rankscope-train").write_text("")
    (home / "COMMIT").write_text("abc1234\n")
    for name in without:
        (home / name).unlink()
    for name, events in (("pytorch", ours), ("kineto", WORK)):
        (home / f"{name}.json").write_text(json.dumps({"traceEvents": events}))
    with tarfile.open(folder / "bundle.tar.xz", "w:xz", preset=0) as archive:
        archive.add(home, home.name)
    return folder / "bundle.tar.xz"


class Result:
    def __init__(self, process, out):
        self.status, self.said = process.returncode, process.stdout + process.stderr
        self.files = {path.name: path.stat().st_size for path in out.iterdir()} if out.exists() else {}
        self.page = (out / PAGE).read_text() if PAGE in self.files else ""
        self.log = (out / "gpu-check.log").read_text() if "gpu-check.log" in self.files else ""

    def failed(self):
        return re.findall(r"^\| (.+?) \| \*\*failed\*\* \|", self.page, re.M)

    def not_tried(self):
        return re.findall(r"^\| (.+?) \| not tried \|", self.page, re.M)


CUDA, RAW, COUNTERS, PYTORCH = "A CUDA", "Raw", "Counters", "A PyTorch"
GLOO, NCCL, OPTIONS, WINDOWS = "Two ranks with G", "Two ranks with N", "Options", "Windows"
ALONE, TOGETHER, LONG = "The reference trainer, one", "The reference trainer, two", "A minute"


def check(*faults, ours=WORK, only=("",), before="", words=(), without=()):
    """A run of it; `only` are begins of the titles of sections."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        bundle = make_bundle(folder, ours, without)
        environment = {**os.environ, "PATH": f"{HERE / 'fakes/tools'}:{os.environ['PATH']}", "PYTHONPATH": str(HERE / "fakes/site"),
                       "PYTHONDONTWRITEBYTECODE": "1", "FAULTS": ",".join(faults)}
        process = subprocess.run([sys.executable, "-B", "-c", START.format(scripts=str(SCRIPTS), before=before, only=only), bundle, "--out", folder / "out", *words],
                                 capture_output=True, text=True, env=environment, cwd=folder, timeout=300)
        return Result(process, folder / "out")


@contextlib.contextmanager
def played_compiler(suits_driver=True):
    """Lets gpu-check find an nvcc; with suits_driver, the programs that it compiles run with the old driver."""
    with tempfile.TemporaryDirectory() as folder:
        nvcc = pathlib.Path(folder, "nvcc")
        change = r's/^if "driver 550".*/if False:/' if suits_driver else ""
        nvcc.write_text(f"""#!/bin/sh
while [ "$1" != -o ]; do shift; done
sed '{change}' '{HERE}/fakes/gpu/kernels' > "$2" && chmod +x "$2"
""")
        nvcc.chmod(0o755)
        yield f"gpu_cuda.compiler = lambda: {str(nvcc)!r}"


class WholeCheck(unittest.TestCase):
    def test_all_that_passes_is_on_the_page_and_all_files_leave(self):
        result = check()
        self.assertEqual((result.status, result.failed()), (0, []), result.said)
        self.assertEqual(result.not_tried(), ["Nsight Systems was measured as well"] if shutil.which("nsys") is None else [])
        self.assertEqual(sorted(result.files), ["activities-h100-80gb-hbm3.cupti", "counters.rankscope.tar.zst", "cuda.rankscope.tar.zst", "gpu-check.log", PAGE,
                                                "kineto.json.gz", "pytorch.rankscope.tar.zst", "ranks-nccl.rankscope.tar.zst"])
        for sentence in ("Verdict: passed.", "| the same number of each kernel as in Kineto's trace | passed | 2 in both |", "| torch | 2.11.0+cu130, CUDA 13.0 |",
                         "| train --ranks 2 --parallel ddp: all operations are matched, and each operation of NCCL is an announced one | passed | 40 matched, 0 not; 0 not announced |",
                         "| SMs are active while kernels occupy all of them, and idle otherwise | passed | median 98.5 % while busy, 0.5 % while idle |",
                         "| all of NCCL's collectives are matched | passed | 40 matched, 0 not |",
                         "| train --ranks 2 --parallel ddp gives the same losses as on the CPU | passed | 1 of 1 steps, relative difference at most 0.0e+00 |",
                         "| train --parallel ddp+mp --ranks 1 --devices 1 gives the same losses as on the CPU | passed |"):
            self.assertIn(sentence, result.page)
        self.assertIn("| commit | abc1234 |", result.page)
        self.assertRegex(result.page, r"\| first import of torch \| \d+\.\d s, before all sections \|")
        self.assertRegex(result.page, r"\| time \| \d+ s of at most 450 s \|")
        self.assertRegex(result.page, r"## Two ranks with NCCL\n\nTook \d+ s of at most 90 s\.")
        self.assertRegex(result.log, r"== .* ended, status 0, \d+\.\d\d s: RANK=0 .*gpu/kernels'?\n")

    def test_nothing_it_started_outlives_it_and_nothing_lies_around(self):
        result = check(only=(CUDA, GLOO), before="import atexit, gpu_machine, os\natexit.register(lambda: print('left:', gpu_machine.descendants(os.getpid())))")
        self.assertIn("left: []", result.said)

    def test_what_is_missing_in_a_recording_fails(self):
        result = check("lost kernel", "drops", "no power", "no bytes", ours=[WORK[0], *WORK[2:]])
        self.assertEqual(result.status, 1, result.said)
        self.assertEqual(set(result.failed()) - {"no data was lost and no error was counted (pytorch1)"},
                         {"each kernel of the CUDA program was recorded", "the same number of each kernel as in Kineto's trace", "the same order of activities on each stream as in Kineto's trace",
                          "no data was lost and no error was counted (cuda)", "no data was lost and no error was counted (long)", "NVML reports power_watts",
                          "no data was lost and no error was counted (ranks-gloo)", "no data was lost and no error was counted (ranks-nccl)",
                          "no data was lost and no error was counted (gpu-single-gpt)", "a process that ends with _exit keeps its kernels",
                          "--toggle cuda records from cudaProfilerStart to cudaProfilerStop", "NCCL's collectives have a group, a sequence number and their bytes",
                          "a training run of 60 s is recorded without drops"})

    def test_what_costs_too_much_or_has_other_losses_fails(self):
        result = check("dear", "slow loop", "wrong losses", only=(CUDA, PYTORCH, TOGETHER))
        self.assertEqual(result.status, 1, result.said)
        self.assertEqual(result.failed(), ["the loop of the CUDA program takes at most 10 % longer with the recorder", "a step of a training run bound by the GPU takes at most 1 % longer recorded",
                                           "a step of a training run bound by the GPU takes at most 1 % longer with --pytorch",
                                           "train --ranks 2 --parallel tp gives the same losses as on the CPU"])


class HangsAndCrashes(unittest.TestCase):
    def test_a_recorder_that_hangs_fails(self):
        result = check("recorder hangs", only=(CUDA,), before="gpu_cuda.LIMIT_S = 1")
        self.assertEqual(result.status, 1, result.said)
        self.assertIn("| the CUDA program runs under the recorder | **failed** | it runs without the recorder, but not with it: stopped after 1 s: waiting for CUPTI |",
                      result.page)
        self.assertIn("stopped, status None", result.log)

    def test_a_recorder_that_breaks_several_ranks_fails_and_says_that_they_run_alone(self):
        result = check("recorder crashes ranks", "recorder breaks training", only=(GLOO, NCCL, TOGETHER))
        self.assertEqual(result.status, 1, result.said)
        self.assertEqual(result.failed(), ["two ranks on one GPU train with gloo under the recorder", "two ranks on one GPU train with nccl under the recorder",
                                           "train --ranks 2 --parallel tp gives the same losses as on the CPU"])
        self.assertIn("it runs without the recorder, but not with it: status -11", result.page)

    def test_a_mode_that_fails_where_another_one_passed_is_a_fault_of_the_trainer(self):
        result = check("a mode hangs", only=(TOGETHER,))
        self.assertEqual(result.status, 1, result.said)
        self.assertEqual(result.failed(), ["train --ranks 2 --parallel pp gives the same losses as on the CPU",
                                           "train --ranks 2 --parallel pp --schedule zb-v gives the same losses as on the CPU"])
        self.assertIn("| train --ranks 2 --parallel tp gives the same losses as on the CPU | passed |", result.page)

    def test_what_does_not_run_alone_either_is_not_tried(self):
        result = check("nccl refuses", "sharing refused", only=(GLOO, NCCL, TOGETHER))
        self.assertEqual((result.status, result.failed()), (0, []), result.said)
        self.assertIn("| two ranks on one GPU train with nccl | not tried | it does not run without the recorder, either: [rank1] RuntimeError: NCCL error: Duplicate GPU detected |",
                      result.page)
        self.assertIn("ranks-gloo.rankscope.tar.zst", result.files)
        self.assertIn("| train --ranks 2 --parallel zero3 gives the same losses as on the CPU | not tried | not tried, since ddp does not run on this machine, recorded or not |",
                      result.page)
        self.assertLessEqual(result.log.count("--parallel zero3"), 1, "its reference on the CPU at most, where that was begun")

    def test_gloo_must_run(self):
        result = check("gloo refuses", only=(GLOO,))
        self.assertEqual((result.status, result.failed()), (1, ["two ranks on one GPU train with gloo under the recorder"]), result.said)

    def test_nothing_passed_is_no_success(self):
        result = check(words=("--minutes", "0.02"))
        self.assertEqual((result.status, result.failed()), (1, []), result.said)
        self.assertIn("nothing passed in: A CUDA program whose launches are all known, A PyTorch program, compared with torch.profiler", result.said)
        self.assertIn("Verdict: **failed**.", result.page)

    def test_programs_that_do_not_run_at_all_fail(self):
        result = check("cuda broken", "pytorch broken", only=(CUDA, PYTORCH))
        self.assertEqual(result.status, 1, result.said)
        self.assertIn("the CUDA program runs", result.failed())
        self.assertIn("the PyTorch program runs (alone)", result.failed())

    def test_a_cuda_program_that_hangs_is_waited_for_once(self):
        result = check("cuda hangs", only=(CUDA, RAW, COUNTERS), before="gpu_cuda.LIMIT_S = 3")
        self.assertEqual((result.status, result.failed()), (1, ["the CUDA program runs"] * 3), result.said)
        self.assertIn("| the CUDA program runs | **failed** | stopped after 3 s: waiting for the driver |", result.page)
        self.assertEqual(len(re.findall(r"== .* stopped, status None.*kernels", result.log)), 1)

    def test_a_program_that_breaks_under_the_recorder_alone_fails(self):
        result = check("cuda breaks recorded", only=(CUDA,))
        self.assertEqual(result.failed(), ["the CUDA program runs under the recorder"], result.said)
        self.assertIn("it runs without the recorder, but not with it: kernels: cudaMalloc: Error: out of memory", result.page)


class Findings(unittest.TestCase):
    def test_any_exception_of_a_section_is_a_failed_check_and_the_others_go_on(self):
        result = check("report broken", only=(CUDA, COUNTERS, OPTIONS), before="gpu_check.check_counters = lambda session: 1 // 0")
        self.assertEqual(result.status, 1, result.said)
        self.assertRegex(result.page, r"\| the section ran to its end \| \*\*failed\*\* \| ZeroDivisionError: integer division or modulo by zero \(")
        self.assertIn("| the section ran to its end | **failed** | JSONDecodeError:", result.page)
        self.assertIn("| each kernel of the CUDA program was recorded | passed |", result.page, "what was found before stays")
        self.assertIn("--toggle cuda records from cudaProfilerStart to cudaProfilerStop | passed", result.page)

    def test_an_export_that_fails_is_said(self):
        result = check("export fails", only=(CUDA,))
        self.assertEqual(result.failed(), ["cuda.rankscope can be exported"], result.said)

    def test_the_page_is_written_after_each_section(self):
        result = check(before="def stop(session):\n    raise KeyboardInterrupt\ngpu_check.check_pytorch = stop")
        self.assertNotEqual(result.status, 0)
        self.assertIn("Verdict: unfinished.", result.page)
        self.assertIn("- not reached: Two ranks with Gloo", result.page)
        self.assertIn("| each kernel of the CUDA program was recorded | passed |", result.page)

    def test_refused_counters_are_forgiven_with_proof_only(self):
        files = "gpu_cuda.text_of = lambda path: {'/proc/driver/nvidia/params': 'RmProfilingAdminOnly: 1\\n', '/proc/self/status': 'CapEff:\\t%s\\n'}[path]"
        what = "the GPU's own counters can be sampled"
        self.assertEqual(check("counters refused", only=(COUNTERS,), before=files % "00000000a80425fb").not_tried(), [what])
        self.assertEqual(check("counters refused", only=(COUNTERS,), before=files % "000001ffffffffff").failed(), [what])
        self.assertEqual(check("counters held", only=(COUNTERS,)).failed(), [what], "doctor names nobody")

    def test_a_torch_profiler_that_records_nothing_and_says_nothing_fails(self):
        result = check("silent torch.profiler", only=(WINDOWS,))
        self.assertEqual(result.failed(), ["torch.profiler works inside a recorded program, or a message says why it does not"], result.said)
        self.assertIn("record does not say that torch.profiler could not record", result.page, "another line that mentions CUPTI does not count")

    def test_a_torch_profiler_that_takes_everything_fails(self):
        result = check("CUPTI taken", only=(WINDOWS,))
        self.assertEqual(result.failed(), ["the recording contains the kernels that ran under torch.profiler, or says why not"], result.said)

    def test_collectives_without_times_or_partners_fail(self):
        result = check("few times", "not announced", only=(NCCL, TOGETHER))
        what = "train --ranks 2 --parallel %s: all operations are matched, and each operation of NCCL is an announced one"
        self.assertEqual(len(result.failed()), 12, result.said)
        self.assertEqual(result.failed()[:2], ["--nccl kernel records the times of collectives from the GPU's timer", what % "ddp"])
        self.assertIn("| 40 matched, 0 not; 7 not announced |", result.page)
        self.assertIn(what % "tp", check("not matched", only=(TOGETHER,)).failed())

    def test_files_that_are_too_large_are_dropped_with_a_note(self):
        result = check("large packs", only=(CUDA, RAW))
        self.assertEqual(sorted(result.files), ["activities-h100-80gb-hbm3.cupti", "gpu-check.log", PAGE], result.said)
        self.assertIn("- `cuda.rankscope.tar.zst` was dropped: it has 24.0 MiB, more than 16", result.page)

    def test_a_bundle_without_the_trainer_is_said(self):
        result = check(only=(ALONE, TOGETHER), without=("bin/rankscope-train",))
        self.assertEqual((result.status, result.failed()), (0, []), result.said)
        self.assertIn("the reference trainer trains", result.not_tried())


class PlayedMachines(unittest.TestCase):
    """The first hour on machines that differ: each part proves something, fails with the reason, or says why it was not tried."""

    def test_a_driver_for_cuda_12_4_and_torch_2_9(self):
        result = check("driver 550", "other torch", only=(CUDA, RAW, PYTORCH, ALONE, TOGETHER), before="gpu_cuda.compiler = lambda: None")
        self.assertEqual((result.status, result.failed()), (0, []), result.said)
        self.assertIn("| the CUDA program runs | not tried | not tried, because the driver is too old for the CUDA that the program of the bundle was built with, and there is no nvcc to compile it here |",
                      result.page)
        self.assertIn("| train --parallel single --model gpt gives the same losses as on the CPU | not tried | not tried, because rankscope-train: this program was built for torch 2.11.0, but the version of torch in /site/torch is 2.9.1; set RANKSCOPE_TORCH |",
                      result.page)
        self.assertIn("| driver | 550.54.15 |", result.page)
        self.assertIn("| torch | 2.9.1+cu128, CUDA 12.8 |", result.page)
        self.assertIn("| the same number of each kernel as in Kineto's trace | passed | 2 in both |", result.page, "what can be proven is")

    def test_with_a_compiler_the_cuda_program_is_built_for_the_driver(self):
        with played_compiler() as compiler:
            result = check("driver 550", only=(CUDA,), before=compiler)
        self.assertEqual((result.status, result.failed(), result.not_tried()), (0, [], []), result.said)

    def test_a_driver_that_is_too_old_for_the_compiler_too(self):
        with played_compiler(suits_driver=False) as compiler:
            result = check("driver 550", only=(CUDA,), before=compiler)
        self.assertEqual((result.status, result.failed()), (0, []), result.said)
        self.assertIn("and too old for the CUDA of", result.page)

    def test_where_only_pytorch_brings_cupti_the_cuda_program_takes_it_from_there(self):
        """Its packages also have the one of another CUDA."""
        result = check("pip only", only=(CUDA, RAW, PYTORCH, OPTIONS))
        self.assertEqual((result.status, result.failed()), (0, []), result.said)
        self.assertRegex(result.page, r"\| CUPTI \| .*/nvidia/cu13/lib/libcupti\.so\.13, of PyTorch's packages, for the CUDA program \|")
        named = [line for line in result.log.splitlines() if "RANKSCOPE_CUPTI=" in line]
        self.assertGreater(len(named), 10)
        self.assertTrue(all("/kernels" in line for line in named), "what a PyTorch program finds by itself is tested")

    def test_of_two_releases_of_cupti_the_one_of_pytorchs_cuda_is_taken(self):
        result = check("pip only", "other torch", only=(CUDA,))
        self.assertEqual((result.status, result.failed()), (0, []), result.said)
        self.assertRegex(result.page, r"\| CUPTI \| .*/nvidia/cuda_cupti/lib/libcupti\.so\.12, of")

    def test_a_driver_for_cuda_12_8_where_only_pytorch_brings_cupti(self):
        """The program of the bundle is too new for the driver: one that is compiled here needs the libcupti of PyTorch's CUDA 12 as well."""
        with played_compiler() as compiler:
            result = check("driver 570", "pip only", "other torch", only=(CUDA, RAW, OPTIONS), before=compiler)
        self.assertEqual((result.status, result.failed(), result.not_tried()), (0, [], []), result.said)
        self.assertIn("| driver | 570.86.10 |", result.page)
        self.assertRegex(result.page, r"\| CUPTI \| .*/nvidia/cuda_cupti/lib/libcupti\.so\.12, of PyTorch's packages, for the CUDA program \|")
        self.assertIn("| each kernel of the CUDA program was recorded | passed |", result.page)

    def test_where_cupti_is_missing_the_kernels_are_missed(self):
        result = check("pip only", only=(CUDA,), before="gpu_check.cupti_of = lambda session, torch: ('none was found', '')")
        self.assertEqual(result.status, 1)
        self.assertIn("each kernel of the CUDA program was recorded", result.failed())

    def test_with_slow_imports_programs_and_their_section_have_more_time(self):
        """The limit of a program must grow with what is kept for it: 20 s and an import."""
        result = check("slow imports", only=(PYTORCH,), before="gpu_torch.FIRST_S, gpu_torch.ROUNDS = 20, 1")
        self.assertEqual((result.status, result.failed()), (0, []), result.said)
        self.assertRegex(result.page, r"\| first import of torch \| [2-9]\.\d s, before all sections \|")
        self.assertRegex(result.page, r"## A PyTorch program, compared with torch.profiler\n\nTook \d+ s of at most 1(5[89]|[67]\d|8[0-6]) s\.")
        self.assertIn("| the same number of each kernel as in Kineto's trace | passed | 2 in both |", result.page)

    def test_where_there_is_time_for_three_programs_only_one_round_is_compared_but_not_what_it_costs(self):
        result = check(only=(PYTORCH,), before="import gpu_machine, gpu_session\nplain, started = gpu_session.Session.plain, []\n"
                       "def limited(self, command, **more):\n    started.append(command)\n"
                       "    return plain(self, command, **more) if len(started) <= 3 else gpu_machine.Outcome(gpu_machine.NOT_STARTED, err='no time was left')\n"
                       "gpu_session.Session.plain = limited")
        self.assertEqual((result.status, result.failed()), (0, []), result.said)
        self.assertIn("| the same number of each kernel as in Kineto's trace | passed | 2 in both |", result.page)
        self.assertIn("| a step of a training run bound by the GPU was measured recorded | not tried | no time was left |", result.page)
        self.assertIn("| a step of a training run bound by the GPU takes at most 1 % longer with --pytorch | not tried | only one run each: alone best", result.page)

    def test_limits_grow_with_the_time_that_an_import_takes(self):
        sys.path.insert(0, str(SCRIPTS))
        import gpu_session
        session = gpu_session.Session(machine=None, bundle=pathlib.Path("b"), results=None, import_s=30)
        self.assertEqual(session.limit(60), 120, "two ranks that import at a time")

    def test_a_profiler_that_hijacks_cupti_fails_if_nobody_says_so(self):
        self.assertEqual(check("CUPTI taken", only=(WINDOWS,)).failed(), ["the recording contains the kernels that ran under torch.profiler, or says why not"])

    def test_eight_gpus(self):
        result = check("eight GPUs", only=(CUDA, COUNTERS, GLOO, NCCL))
        self.assertEqual((result.status, result.failed(), result.not_tried()), (0, [], []), result.said)
        self.assertIn("| device | NVIDIA H100 80GB HBM3 |", result.page)

    def test_a_gpu_that_mig_divides(self):
        result = check("mig", only=(CUDA, COUNTERS))
        self.assertEqual((result.status, result.failed()), (0, []), result.said)
        self.assertEqual(result.not_tried(), ["NVML reports power_watts", "the GPU's own counters can be sampled"])
        self.assertIn("MIG divides the GPU, and NVML does not tell it: not supported by this GPU or driver", result.page)
        self.assertIn("nvidia-smi says that MIG divides the GPU", result.page)

    def test_counters_that_are_missing_without_mig_fail(self):
        result = check("mig", only=(COUNTERS,), before="gpu_cuda.MIG = ['--query-gpu=name']")
        self.assertEqual(result.failed(), ["NVML reports power_watts", "the GPU's own counters can be sampled"], result.said)


class Plan(unittest.TestCase):
    # Seconds that sections take on an H200, the last one if it trains for a minute.
    TOOK = {CUDA: 6, RAW: 1, COUNTERS: 5, PYTORCH: 95, GLOO: 16, NCCL: 67, OPTIONS: 16, WINDOWS: 19, ALONE: 10, TOGETHER: 11 * 6, LONG: 76}

    def shares(self, minutes):
        """{begin of the title of a section: its seconds} if 6 s pass before the first."""
        sys.path.insert(0, str(SCRIPTS))
        loader = importlib.machinery.SourceFileLoader("gpu_check", str(SCRIPTS / "gpu-check"))
        script = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
        loader.exec_module(script)
        jobs, left, shares = script.jobs_of(("NVIDIA H200", "580")), 60 * minutes - 6, {}
        for number, job in enumerate(jobs):
            title = next(one for one in self.TOOK if job.title.startswith(one))
            shares[title] = script.share_of(jobs[number:], left)
            left -= min(self.TOOK[title], shares[title])
        return shares

    def test_with_six_minutes_all_modes_of_two_ranks_are_tried(self):
        for minutes in (6, 7, 7.5):
            self.assertGreaterEqual(self.shares(minutes)[TOGETHER], self.TOOK[TOGETHER], minutes)

    def test_where_time_is_short_the_long_run_is_shorter_but_not_left_out(self):
        self.assertGreaterEqual(self.shares(7)[LONG], self.TOOK[LONG])
        self.assertGreaterEqual(self.shares(5)[TOGETHER], 25)
        self.assertGreaterEqual(self.shares(5)[LONG], 15 + 16)


class Refusal(unittest.TestCase):
    def run_check(self, *words, path="/nowhere"):
        return subprocess.run([sys.executable, "-B", SCRIPTS / "gpu-check", *words], capture_output=True, text=True, env={**os.environ, "PATH": path})

    def refused(self, answer):
        with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as bundle:
            tool = pathlib.Path(folder, "nvidia-smi")
            tool.write_text(f"#!/bin/sh\necho '{answer}'\n")
            tool.chmod(0o755)
            return self.run_check(bundle.name, "--out", str(pathlib.Path(folder, "out")), path=folder)

    def test_without_a_gpu_it_says_so_and_checks_nothing(self):
        with tempfile.NamedTemporaryFile() as bundle:
            result = self.run_check(bundle.name)
        self.assertEqual(result.returncode, 77)
        self.assertEqual(result.stdout, "gpu-check: no NVIDIA GPU here (nvidia-smi was not found); nothing was checked\n")

    def test_a_driver_that_finds_none(self):
        result = self.refused("No devices were found")
        self.assertEqual(result.returncode, 77)
        self.assertIn("(nvidia-smi finds no GPU: No devices were found)", result.stdout)

    def test_wrong_options_and_what_is_no_bundle(self):
        self.assertEqual(self.run_check("/no/such.tar.xz").returncode, 2)
        result = self.refused("NVIDIA H100, 580.1")
        self.assertEqual(result.returncode, 2)
        self.assertIn("is not a bundle", result.stderr)


if __name__ == "__main__":
    unittest.main()
