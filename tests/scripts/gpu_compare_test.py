"""What scripts/gpu-check concludes from its runs, and how its page says it."""
import json
import math
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.dont_write_bytecode = True
SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.path.insert(0, str(SCRIPTS))
import gpu_compare  # noqa: E402
import gpu_page  # noqa: E402
import gpu_session  # noqa: E402
import gpu_trainer  # noqa: E402
from gpu_compare import Check  # noqa: E402
from gpu_machine import ENDED, NOT_STARTED, STOPPED, Machine, Outcome  # noqa: E402
from gpu_page import Section  # noqa: E402


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
        self.assertIn("the same number of each kernel as in Kineto's trace", failures([*self.theirs[:2], *self.theirs[3:]], self.theirs))

    def test_another_order(self):
        ours = changed(1, ts=165)
        ours[3] = {**ours[3], "args": {"stream": 7}}
        theirs = changed(3, args={"stream": 7})
        self.assertEqual(failures(ours, theirs), ["the same order of activities on each stream as in Kineto's trace"])

    def test_longer_durations(self):
        self.assertEqual(failures(changed(3, dur=3.19), self.theirs), [], "200 ns are allowed")
        self.assertEqual(failures(changed(4, dur=9), self.theirs), [], "copies depend on where the host has their memory")
        self.assertEqual(failures(changed(3, dur=3.21), self.theirs), ["median durations of kernels within 2 % or 200 ns of Kineto's"])

    def test_durations_that_differ_in_one_pair_of_runs_only_are_the_gpus(self):
        def with_another(ours):
            pair = lambda: (trace(*ours), trace(*self.theirs))  # noqa: E731
            return gpu_compare.compare(trace(*changed(3, dur=5)), trace(*self.theirs), pair)[-1]

        self.assertEqual(with_another(self.theirs), Check("median durations of kernels within 2 % or 200 ns of Kineto's", True,
                                                          "2 names; in one pair of runs only: relu: 5000 and 3000 ns"))
        self.assertEqual(with_another(changed(3, dur=4)).passed, False, "in both")
        self.assertEqual(with_another(changed(1, dur=99)).passed, True, "another name in each")
        self.assertEqual(with_another(changed(3, name="other")).passed, False, "the other pair does not have it")

    def test_other_bytes(self):
        self.assertEqual(failures(changed(4, args={"stream": 7, "bytes": 4095}), self.theirs), ["the same number of bytes copied and filled as in Kineto's trace"])

    def test_nothing_recorded_or_no_marker_is_no_success(self):
        self.assertEqual(failures(WORK, self.theirs), ["both recordings have the marker"])
        self.assertIn("the same number of each kernel as in Kineto's trace", failures([MARKER], [MARKER]))

    def test_times_keep_their_nanoseconds(self):
        self.assertEqual(gpu_compare.nanoseconds("1700000000123456.789"), 1700000000123456789)
        self.assertEqual(gpu_compare.nanoseconds("12.5"), 12500)
        self.assertEqual(gpu_compare.nanoseconds(7), 7000)


class Counted(unittest.TestCase):
    all_of_it = {"kernels": {"axpy": 2, "spin": 1, "hold": 0}, "copies": {"HtoD": [1, 4096]}, "memsets": [1, 64]}
    told = {"all": all_of_it, "at_least_ns": {"spin": 50000, "hold": 10_000_000}}
    events = (event("axpy", 0, 3), event("axpy", 10, 3), event("spin", 20, 50.1, stream=8), *WORK[3:])

    def failures(self, events):
        recorded = trace(*events)
        checks = gpu_compare.check_counts(recorded, self.all_of_it) + gpu_compare.check_times(recorded, self.told)
        return [check.what for check in checks if not check.passed]

    def test_all_there(self):
        self.assertEqual(self.failures(self.events), [])

    def test_what_is_missing_too_short_or_too_many_is_named(self):
        self.assertEqual(self.failures(self.events[1:]), ["each kernel of the CUDA program was recorded"])
        self.assertEqual(self.failures([*self.events[:2], event("spin", 20, 47, stream=8), *self.events[3:]]), ["spin lasts as long as its own timer says"])
        self.assertEqual(self.failures(self.events[:4]), ["each memset was recorded, with its bytes"])

    def test_two_things_at_a_time_on_a_stream(self):
        overlapping = [event("axpy", 0, 10), event("axpy", 7, 1), *self.events[2:]]
        self.assertEqual(self.failures(overlapping), ["one activity at a time on each stream"])
        self.assertEqual(self.failures([event("axpy", 0, 10), event("axpy", 9, 3), *self.events[2:]]), [], "clocks are read to 2 µs")


class Sampled(unittest.TestCase):
    """500 samples a second; kernels hold all SMs from 1 to 3 s, times here in ms."""

    def passed(self, samples, busy=(1000, 3000)):
        in_ns = [(time * 1_000_000, value) for time, value in samples]
        times = busy and tuple(time * 1_000_000 for time in busy)
        return [check.passed for check in gpu_compare.check_samples(times, in_ns, 500)]

    def at(self, begin, end, value, step=2):
        return [(time, value) for time in range(begin, end, step)]

    def test_active_while_busy_and_only_then(self):
        self.assertEqual(self.passed(self.at(0, 1000, 0.5) + self.at(1000, 3000, 99.0) + self.at(3000, 4000, 0.5)), [True, True, True])
        self.assertEqual(self.passed(self.at(1000, 3000, 99.0) + self.at(3000, 4000, 0.5)), [True, True, True], "the sampler may begin late")

    def test_too_little_or_too_much_activity(self):
        self.assertEqual(self.passed(self.at(0, 4000, 1.0)), [True, False, True])
        self.assertEqual(self.passed(self.at(0, 4000, 99.0)), [True, False, True])
        self.assertEqual(self.passed(self.at(1000, 3000, 250.0) + self.at(3000, 4000, 0.5)), [True, True, False])

    def test_too_few_samples(self):
        self.assertEqual(self.passed(self.at(1000, 3000, 99.0, step=8) + self.at(3000, 4000, 0.5)), [False, True, True])
        self.assertEqual(self.passed(self.at(1000, 3000, 99.0)), [False, False], "none behind it")
        self.assertEqual(self.passed([]), [False])
        self.assertEqual(self.passed(self.at(0, 4000, 1.0), busy=None), [False])


class Forgiven(unittest.TestCase):
    kept, unprivileged = "Mobile: 4294967295\nRmProfilingAdminOnly: 1\nEnableMSI: 1\n", "Name:\tpython\nCapEff:\t00000000a80425fb\n"
    refused = "this user is not allowed to read the GPU's counters (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES when enabling)"
    held = "another program is using the GPU's counters (CUPTI_ERROR_HARDWARE_BUSY when enabling)"

    def test_a_lack_of_privilege_that_this_machine_shows(self):
        self.assertIn("RmProfilingAdminOnly is 1", gpu_compare.forgiven(self.refused, self.kept, self.unprivileged, ""))

    def test_a_lack_of_privilege_that_it_does_not_show_is_ours(self):
        for params, status in (("RmProfilingAdminOnly: 0\n", self.unprivileged), ("", self.unprivileged), (self.kept, ""),
                               (self.kept, "CapEff:\t0000000000200000\n"), (self.kept, "CapEff:\t0000004000000000\n")):
            self.assertEqual(gpu_compare.forgiven(self.refused, params, status, ""), "", (params, status))

    def test_a_rival_that_doctor_names(self):
        doctor = "ok   CUPTI                libcupti.so.13\nnote other profilers      nv-hostengine (process 12)\n"
        self.assertEqual(gpu_compare.forgiven(self.held, "", "", doctor), "rankscope doctor names nv-hostengine (process 12)")
        self.assertEqual(gpu_compare.forgiven(self.held, "", "", "ok   other profilers      none running\n"), "")
        self.assertEqual(gpu_compare.forgiven(self.held, self.kept, self.unprivileged, ""), "")
        self.assertEqual(gpu_compare.forgiven("CUPTI failed when reading the counters: CUPTI_ERROR_UNKNOWN", self.kept, self.unprivileged, doctor), "")


class Told(unittest.TestCase):
    counters = {"GPU 0 memory_used_bytes": [5e8], "GPU 0 power_watts": [90.0, 95.0], "GPU 0 sm_clock_mhz": [1980], "GPU 0 temperature_celsius": [40]}

    def nvml_failures(self, counters, metadata=("GPU-1 NVIDIA H100",), uuids=("GPU-1",)):
        return [check.what for check in gpu_compare.check_nvml(counters, list(metadata), list(uuids)) if not check.passed]

    def test_values_of_nvml_are_there_and_sane(self):
        self.assertEqual(self.nvml_failures(self.counters), [])
        self.assertEqual(self.nvml_failures({**self.counters, "GPU 0 power_watts": [90.0, 0.0]}), ["NVML reports power_watts"])
        self.assertEqual(self.nvml_failures({**self.counters, "GPU 0 memory_used_bytes": []}), ["NVML reports memory_used_bytes"])

    def test_another_gpu(self):
        for metadata, uuids in (([], ["GPU-1"]), (["GPU-2 NVIDIA H100"], ["GPU-1"]), (["GPU-1 NVIDIA H100"], [])):
            self.assertEqual(self.nvml_failures(self.counters, metadata, uuids), ["NVML and nvidia-smi see the same GPU"])

    def test_collectives_without_group_sequence_or_bytes(self):
        whole = ("communicator 0x1", 0, 4096, "all_reduce")
        self.assertTrue(gpu_compare.check_collectives([whole]).passed)
        for lacking in ((None, 0, 4096, "all_reduce"), ("communicator 0x1", None, 4096, "all_reduce"), ("communicator 0x1", 0, None, "all_reduce")):
            self.assertFalse(gpu_compare.check_collectives([whole, lacking]).passed)
        self.assertFalse(gpu_compare.check_collectives([]).passed)


class Operations(unittest.TestCase):
    def test_nearly_all_collectives_need_times(self):
        self.assertTrue(gpu_compare.check_timed(128, 128).passed)
        self.assertTrue(gpu_compare.check_timed(122, 128).passed)
        self.assertFalse(gpu_compare.check_timed(1, 128).passed)
        self.assertFalse(gpu_compare.check_timed(0, 0).passed)

    def test_all_of_the_trainer_are_matched_and_announced(self):
        ddp, pipeline = ("--ranks", "2", "--parallel", "ddp"), ("--ranks", "2", "--parallel", "pp", "--schedule", "zb-v")
        self.assertTrue(gpu_compare.check_operations(ddp, 40, 0, 0).passed)
        self.assertFalse(gpu_compare.check_operations(ddp, 40, 1, 0).passed)
        self.assertFalse(gpu_compare.check_operations(ddp, 40, 0, 1).passed)
        self.assertFalse(gpu_compare.check_operations(ddp, 0, 0, 0).passed)
        self.assertTrue(gpu_compare.check_operations(pipeline, 0, 0, 0).passed, "it has no collectives")


class Costs(unittest.TestCase):
    def passed(self, alone, recorded, operators, kineto, most=0.01):
        runs = {"alone": alone, "recorded": recorded, "with --pytorch": operators, "torch.profiler": kineto}
        return [check.passed for check in gpu_compare.check_costs("a training", runs, most)]

    def test_the_best_of_several_runs_counts(self):
        self.assertEqual(self.passed([[1000, 1000, 9000], [1200]], [[1300], [1005]], [[1009], [1009]], [[1100], [1200]]), [True] * 4)

    def test_more_than_a_percent_or_than_kineto(self):
        self.assertEqual(self.passed([[1000]] * 2, [[1020]] * 2, [[1111]] * 2, [[1100]] * 2), [False, True, False, False])
        self.assertEqual(self.passed([[1000]] * 2, [[1020]] * 2, [[1104]] * 2, [[1100]] * 2, most=None), [True, True], "profilers differ by 0.5 %")

    def test_one_run_each_says_nothing(self):
        self.assertEqual(self.passed([[1000]], [[1500], [1500]], [[1111]], [[1100]]), [None] * 4)
        self.assertEqual(self.passed([[1000], [1000]], [[1500], [1500]], [[1005]], [[1100], [1100]]), [False, False, None, None])

    def test_spread_and_nsight_are_said(self):
        runs = {"alone": [[1000], [1100]], "recorded": [[1000]], "with --pytorch": [[1000]], "torch.profiler": [[2000]], "Nsight Systems": [[1500]]}
        checks = gpu_compare.check_costs("a training", runs)
        self.assertIn("alone best 1.0 µs (+0.00 %), median 1.1, 1.0 to 1.1 in 2 runs", checks[0].said)
        self.assertEqual(checks[-1].said, "best 1.5 µs (+50.00 %), median 1.5, 1.5 to 1.5 in 1 runs")


class Losses(unittest.TestCase):
    def passed(self, losses, expected):
        return gpu_compare.check_losses("train", losses, expected).passed

    def test_equal_ones_pass(self):
        self.assertTrue(self.passed([2.0, 1.0 + 1e-12], [2.0, 1.0]))

    def test_others_fail(self):
        self.assertFalse(self.passed([2.0, 1.001], [2.0, 1.0]))
        self.assertFalse(self.passed([2.0], [2.0, 1.0]))
        self.assertFalse(self.passed([], []))

    def test_what_is_no_number_fails_in_any_step(self):
        for losses in ([math.nan, 1.0], [2.0, math.nan]):
            self.assertFalse(self.passed(losses, [2.0, 1.0]))
            self.assertFalse(self.passed(losses, losses))
            self.assertIn("relative difference at most nan", gpu_compare.check_losses("train", losses, [2.0, 1.0]).said)


class Blamed(unittest.TestCase):
    session = gpu_session.Session(Machine(pathlib.Path("."), 0.0), pathlib.Path("."), None)
    ok, crashed = Outcome(ENDED, 0), Outcome(ENDED, 1, err="Error: no\n")

    def test_what_runs_alone_but_not_recorded_failed(self):
        for recorded in (self.crashed, Outcome(STOPPED, seconds=60)):
            self.assertFalse(gpu_session.blame("a", recorded, self.session, lambda _: self.ok).passed)

    def test_what_does_not_run_alone_was_not_tried_unless_it_must(self):
        check = gpu_session.blame("a", self.crashed, self.session, lambda _: Outcome(ENDED, 1, err="Error: no such GPU\n"))
        self.assertEqual(check, Check("a", None, "it does not run without the recorder, either: Error: no such GPU"))
        self.assertFalse(gpu_session.must(check).passed)

    def test_no_time_is_no_failure(self):
        late = Outcome(NOT_STARTED, err="no time was left")
        check = gpu_session.blame("a", late, self.session, lambda _: self.fail("it is not tried alone"))
        self.assertEqual((check.passed, gpu_session.must(check).passed), (None, None))
        self.assertFalse(gpu_session.blame("a", self.crashed, self.session, lambda _: late).passed, "it did fail")


class Page(unittest.TestCase):
    sections = [Section("Kernels", [Check("a", True, "3 | 3"), Check("b", False, "gone"), Check("c", None, "no time")], True, 12.4, 45.0)]

    def test_it_tells_what_failed_and_what_could_not_be_tried(self):
        page = gpu_page.page_of([("device", "NVIDIA H100"), ("commit", "abc123")], self.sections)
        self.assertIn("# On NVIDIA H100\n", page)
        self.assertIn("at commit abc123: 1 check passed, 1 failed, 1 could not be tried. Verdict: **failed**.", page)
        self.assertIn("Took 12 s of at most 45 s.", page)
        self.assertIn("| a | passed | 3 \\| 3 |\n| b | **failed** | gone |\n| c | not tried | no time |", page)

    def test_a_section_that_must_prove_something(self):
        self.assertFalse(gpu_page.verdict([Section("K", [Check("c", None, "no time")], True)])[0])
        self.assertTrue(gpu_page.verdict([Section("K", [Check("c", None, "no time")])])[0])
        self.assertFalse(gpu_page.verdict([Section("K", [], True)])[0])

    def test_the_name_of_the_file(self):
        self.assertEqual(gpu_page.device_slug("NVIDIA H100 80GB HBM3"), "h100-80gb-hbm3")


class Files(unittest.TestCase):
    def test_no_more_than_eight_stay_and_the_largest_goes(self):
        with tempfile.TemporaryDirectory() as folder:
            results = gpu_page.Results(pathlib.Path(folder), ["page.md"])
            results.path("page.md").write_bytes(b"x" * 999)
            for number in range(9):
                results.path(f"{number}").write_bytes(b"x" * (number + 1))
            results.enforce()
            self.assertEqual(sorted(path.name for path in pathlib.Path(folder).iterdir()), ["0", "1", "2", "3", "4", "5", "6", "page.md"])
            self.assertEqual(results.notes, ["`8` was dropped: there are more than 8 files, and it is the largest",
                                             "`7` was dropped: there are more than 8 files, and it is the largest"])


class Trainer(unittest.TestCase):
    @staticmethod
    def check_after(why):
        outcome = mock.Mock(status=gpu_trainer.NOT_OURS, why=why, ok=False)
        with mock.patch.object(gpu_trainer, "train", return_value=([], outcome)), mock.patch.object(gpu_trainer, "blame", return_value=Check("a training", False, why)):
            return gpu_trainer.check_device(mock.MagicMock(), None, ["--parallel", "single"]).passed

    def test_only_another_version_of_torch_is_an_excuse(self):
        self.assertIsNone(self.check_after("rankscope-train: this program was built for torch 2.11.0, but the version of torch in /site/torch is 2.9.1"))
        self.assertIs(self.check_after("rankscope-train: RANKSCOPE_TORCH: /site/torch/lib/libtorch_cpu.so does not exist"), False)


if __name__ == "__main__":
    unittest.main()
