"""Holistic Trace Analysis (HTA) and rankscope side by side: both read the same two traces (docs/from-hta.md).

HTA reads the Unix times of a trace as doubles, which have a resolution of 0.25 us, and then rounds start times up and end times down to
whole microseconds. So each of its durations is between 2.5 us shorter and 0.5 us longer than ours.
"""
import json
import os
import pathlib
import subprocess
import unittest

import numpy
import pandas
import rankscope
import support
from support import ROOT, SHARED

VENV = pathlib.Path(os.environ.get("RANKSCOPE_HTA_VENV") or ROOT / "build/hta-venv")
PYTHON = VENV / "bin/python"
TRACES = ("ns_resolution_v100", "nccl_args_a100")
HOST_ANNOTATIONS = ["user", "step", "optimizer", "api"]
CLASSES = {"compute": "COMPUTATION", "comm": "COMMUNICATION", "memory": "MEMORY"}


def hta_of(trace, other):
    found = subprocess.run([PYTHON, pathlib.Path(__file__).with_name("hta_calls.py"), SHARED / "kineto" / trace, SHARED / "kineto" / other],
                           capture_output=True, text=True, check=True)
    return json.loads(found.stdout)


class Side:
    """What both programs say of one trace. `calls` and `work` are the host calls and the device work that they launched, row by row;
    like HTA, without the calls in the last step."""

    def __init__(self, trace, other):
        self.hta = hta_of(trace, other)
        self.run = rankscope.open(SHARED / "kineto" / trace)
        self.compat = self.run.report(hta="dropped")["hta_compat"]
        (self.ours,) = self.compat["ranks"]
        self.spans = self.run.table("spans").to_pandas().set_index("id")
        self.lane_kind = self.spans.lane_id.map(self.run.table("lanes").to_pandas().set_index("id").kind)
        links = self.run.table("links").to_pandas().query("kind == 'launch'")
        self.all_calls = self.spans.loc[links.from_span_id].reset_index()
        self.all_work = self.spans.loc[links.to_span_id].reset_index()
        self.steps = self.spans[self.spans.kind == "step"].sort_values("begin_ns")
        self.last = self.steps.begin_ns.max()
        kept = self.all_calls.begin_ns < self.last
        self.calls, self.work = self.all_calls[kept], self.all_work[kept]
        numbers = self.run.table("span_attributes").to_pandas()
        self.attribute = lambda key: numbers[numbers.key == key].set_index("span_id").number
        self.stream = self.work.lane.str.removeprefix("stream ").astype(int)

    def frame(self, name):
        return pandas.DataFrame(self.hta[name])

    def queue(self):
        """The length of the queue of each stream after each change, as a table with stream, time_ns and length."""
        changes = pandas.concat([pandas.DataFrame({"stream": self.stream, "time_ns": self.calls.begin_ns, "change": 1}),
                                 pandas.DataFrame({"stream": self.stream, "time_ns": self.work.begin_ns, "change": -1})])
        changes = changes.sort_values(["stream", "time_ns"], kind="stable")
        changes["length"] = changes.groupby("stream").change.cumsum()
        return changes

    def time_at(self, length):
        """{stream: ns} in which at least `length` calls were queued."""
        queue = self.queue()
        queue["lasts_ns"] = queue.groupby("stream").time_ns.shift(-1) - queue.time_ns
        return queue[queue.length >= length].groupby("stream").lasts_ns.sum()

    def in_first_step(self):
        """Everything that began in the first step, and the device work that was launched in it."""
        first = self.steps.iloc[0]
        begins, ends = first.begin_ns, first.begin_ns + first.duration_ns
        inside = lambda rows: (rows.begin_ns >= begins) & (rows.begin_ns < ends)  # noqa: E731
        return pandas.concat([self.spans[(self.lane_kind != "stream") & inside(self.spans)], self.all_work[inside(self.all_calls)]])

    def aten_op_of_launches(self):
        """For each launch of a kernel, the name of the innermost operator aten:: around it on its thread (None: there is none)."""
        ops = self.spans[self.spans.name.str.startswith("aten::")].sort_values("begin_ns")
        names = []
        for lane, launches in self.calls[self.calls.name.str.contains("LaunchKernel")].groupby("lane_id"):
            here = ops[ops.lane_id == lane]
            begins, ends = here.begin_ns.to_numpy(), (here.begin_ns + here.duration_ns).to_numpy()
            for launch in launches.itertuples():
                around = numpy.flatnonzero((begins <= launch.begin_ns) & (ends >= launch.begin_ns + launch.duration_ns))
                names.append(here.name.iloc[around[-1]] if len(around) else None)
        return pandas.Series(names)


def missing():
    if not (VENV / "complete").exists():
        return f"HTA is not installed in {VENV}; run scripts/check_python --install"
    for trace in TRACES:
        if not (SHARED / "kineto" / trace).exists():
            return f"{SHARED / 'kineto' / trace} is not here"
    return None


@unittest.skipIf(missing(), missing())
class Beside(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sides = cls.v100, cls.a100 = [Side(trace, other) for trace, other in zip(TRACES, reversed(TRACES))]

    def assert_rounded(self, ours_ns, theirs_us, durations=1, msg=None):
        """theirs is the sum of so many durations, each rounded as HTA rounds."""
        lost = ours_ns / 1e3 - theirs_us
        self.assertTrue(-0.5 * durations <= lost <= 2.5 * durations, f"{msg}: {ours_ns} ns, {theirs_us} us")

    def assert_same_durations(self, ours, theirs):
        """ours: spans; theirs: HTA's sum, max, min and mean by name."""
        ours = ours.groupby("name").duration_ns.agg(["count", "sum", "max", "min", "mean"])
        theirs = theirs.set_index("name")
        self.assertEqual(set(ours.index), set(theirs.index))
        self.assertGreaterEqual(len(ours), 3)
        for name, own in ours.iterrows():
            for column in ("max", "min", "mean"):
                self.assert_rounded(own[column], theirs.loc[name, f"{column} (us)"], msg=f"{column} of {name}")
            self.assert_rounded(own["sum"], theirs.loc[name, "sum (us)"], own["count"], msg=name)
            if theirs.loc[name, "mean (us)"] != 0:
                self.assertEqual(own["count"], round(theirs.loc[name, "sum (us)"] / theirs.loc[name, "mean (us)"]))

    def test_versions_and_docs(self):
        page = (ROOT / "docs/from-hta.md").read_text()
        for side in self.sides:
            self.assertEqual(side.hta["versions"]["HTA"], "0.5.0")
            self.assertEqual(len(side.hta["public"]), 25)
            for call in side.hta["public"]:
                self.assertIn(f"`{call}(", page.replace("TraceDiff.", ""))

    def test_temporal_breakdown_and_overlap(self):
        for side in self.sides:
            (theirs,) = side.hta["temporal"]
            for column in ("idle", "compute", "non_compute"):
                self.assertAlmostEqual(side.ours[f"{column}_us"], theirs[f"{column}_time(us)"], delta=1)
            self.assertAlmostEqual(side.ours["kernel_us"], theirs["kernel_time(us)"], delta=1)
            (theirs,) = side.hta["overlap"]
            if theirs["comp_comm_overlap_pctg"] is None:  # 0 / 0: no communication
                self.assertIsNone(side.ours["overlap_pct"])
            else:
                self.assertAlmostEqual(side.ours["overlap_pct"], theirs["comp_comm_overlap_pctg"], delta=0.01)
        self.assertIsNotNone(self.a100.ours["overlap_pct"])

    def test_kernels(self):
        for side in self.sides:
            kernels = pandas.DataFrame(side.hta["kernels"][1])
            self.assert_same_durations(side.work, kernels)
            by_name = kernels.set_index("name").kernel_type
            self.assertEqual(side.work.kind.astype(str).map(CLASSES).tolist(), side.work.name.map(by_name).tolist())
            types = {one["type"]: one for one in side.compat["kernel_types"]}
            for theirs in side.hta["kernels"][0]:
                self.assertAlmostEqual(types[theirs["kernel_type"]]["sum_us"], theirs["sum"], delta=1)

    def test_kernels_by_default_are_wrong(self):
        """With more than ten names, HTA's maximum of a kernel is the sum of all its executions."""
        for side in self.sides:
            theirs = side.frame("kernels_by_default")
            computed = {(one["name"], one["type"]): one for one in side.ours["kernels"]}
            for row in theirs[theirs.kernel_type != "MEMORY"].to_dict("records"):
                own = computed[row["name"], row["kernel_type"]]
                for column in ("sum", "max", "min", "mean"):
                    self.assertAlmostEqual(own[f"{column}_us"], row[f"{column} (us)"], delta=1)
            named = theirs[(theirs.kernel_type == "COMPUTATION") & (theirs.name != "others")]
            self.assertGreater(len(named), 0)
            self.assertEqual(named["max (us)"].tolist(), named["sum (us)"].tolist())
            longest = side.work.groupby("name").duration_ns.max()
            self.assertLess(longest[named.name.iloc[0]] / 1e3, named["max (us)"].iloc[0] / 10)

    def test_idle(self):
        for side in self.sides:
            computed = {one["stream"]: one for one in side.ours["idle"]}
            for row in side.hta["idle"]:
                self.assertAlmostEqual(computed[row["stream"]][f"{row['idle_category']}_us"], row["idle_time"], delta=1)
            self.assertEqual(set(computed), {row["stream"] for row in side.hta["idle"]})

    def test_queue(self):
        for side in self.sides:
            ours, most = side.queue(), side.run.table("launches", columns=["stream", "queue_most"]).to_pandas().set_index("stream").queue_most
            computed = {one["stream"]: one for one in side.ours["queue"]}
            self.assertEqual(side.hta["queue_summary"], side.hta["queue_summary_from_series"])
            self.assertEqual(set(computed), {row["stream"] for row in side.hta["queue_summary"]})
            series = pandas.DataFrame(side.hta["queue_series"])
            for row in side.hta["queue_summary"]:
                own = ours[ours.stream == row["stream"]].length
                self.assertEqual(len(own), row["queue_length.count"])
                self.assertEqual(own.max(), row["queue_length.max"])
                self.assertAlmostEqual(own.mean(), row["queue_length.mean"], delta=0.02)  # by changes with equal times
                self.assertAlmostEqual(computed[row["stream"]]["mean"], row["queue_length.mean"], delta=0.02)
                self.assertGreaterEqual(most[row["stream"]], own.max())  # all steps
                self.assertEqual((series.stream == row["stream"]).sum(), len(own))

    def test_blocked_on_full_queue(self):
        for side in self.sides:
            self.assertEqual(side.hta["blocked"], [])
            self.assertTrue(side.time_at(1024).empty)
            (theirs,) = side.hta["blocked_at_8"]
            own = side.time_at(8)
            self.assertAlmostEqual(own[theirs["stream"]] / 1e3, theirs["duration_at_max_queue_length"], delta=30)  # us
        # HTA keeps one stream of each rank: the last.
        (theirs,) = self.a100.hta["blocked_at_1"]
        self.assertEqual(theirs["stream"], 40)
        self.assertEqual(self.a100.time_at(1).index.tolist(), [7, 40])
        self.assertAlmostEqual(self.a100.time_at(1)[40] / 1e3, theirs["duration_at_max_queue_length"], delta=30)

    def test_bandwidth(self):
        for side in self.sides:
            copies = side.work[side.work.kind == "memory"]
            gbps = side.attribute("bytes").loc[copies["id"]].to_numpy() / copies.duration_ns.to_numpy()
            kinds = copies.name.str.replace(r" \(.*", "", regex=True).to_numpy()
            series = pandas.DataFrame(side.hta["bandwidth_series"])
            self.assertEqual(len(series), 2 * len(copies))
            self.assertTrue(side.hta["bandwidth"])
            for row in side.hta["bandwidth"]:
                own = gbps[kinds == row["name"]]
                self.assertAlmostEqual(own.max() / row["memory_bw_gbps.max"], 1, delta=1e-3)
                points = series[series.name == row["name"]].memory_bw_gbps
                self.assertAlmostEqual(points[points > 1e-9].mean() / own.mean(), 1, delta=0.01)

        (row,) = [row for row in self.v100.hta["bandwidth"] if row["name"] == "Memcpy DtoD"]
        own = (self.v100.work.name == "Memcpy DtoD (Device -> Device)").sum()
        self.assertEqual(own, 1280)
        self.assertGreater(row["memory_bw_gbps.count"], own)  # what is left over by adding and subtracting doubles counts as a point
        self.assertLess(row["memory_bw_gbps.min"], 1e-9)

    def test_stragglers_need_two_ranks(self):
        for side, error in zip(self.sides, ("ValueError", "TypeError")):
            self.assertEqual(side.hta["stragglers"]["error"], error)
            self.assertIn("unavailable", side.compat["stragglers"])
            with self.assertRaises(rankscope.CannotTellError):
                side.run.slow_ranks()

    def test_steps(self):
        for side in self.sides:
            self.assertEqual(side.hta["steps"], side.run.table("steps").to_pandas().step.tolist()[:-1])

    def test_annotations(self):
        for side in self.sides:
            before = side.spans[side.spans.begin_ns < side.last]
            kind = side.lane_kind[before.index]
            self.assert_same_durations(before[kind == "annotation"], side.frame("annotations"))
            host = before[(kind == "thread") & before.kind.isin(HOST_ANNOTATIONS) & (before.name != "PyTorch Profiler (0)")]
            self.assert_same_durations(host, side.frame("host_annotations"))

    def test_kernels_with_annotations(self):
        for side in self.sides:
            theirs = side.frame("kernels_with_annotations").s_user_annotation.replace("", None).value_counts()
            annotations = side.spans[(side.lane_kind == "annotation") & (side.spans.begin_ns < side.last)].sort_values("duration_ns", ascending=False)
            begins, ends = side.work.begin_ns, side.work.begin_ns + side.work.duration_ns
            inner = pandas.Series(None, index=side.work.index, dtype=object)
            for one in annotations.itertuples():
                same = side.work.lane.astype(str) + " annotations" == one.lane
                inner[same & (begins < one.begin_ns + one.duration_ns) & (ends > one.begin_ns)] = one.name
            self.assertEqual(set(inner.dropna()), set(theirs.index))
            for name, count in theirs.items():
                self.assertAlmostEqual((inner == name).sum(), count, delta=1)  # by rounding: a kernel that ends as an annotation begins

    def test_launches(self):
        for side in self.sides:
            theirs = side.frame("launches").set_index("correlation")
            ours = pandas.DataFrame({
                "correlation": side.attribute("correlation").loc[side.work["id"]].astype(int).to_numpy(),
                "cpu_duration": side.calls.duration_ns.to_numpy(), "gpu_duration": side.work.duration_ns.to_numpy(),
                "launch_delay": (side.work.begin_ns - side.calls.begin_ns - side.calls.duration_ns).clip(lower=0).to_numpy()}).set_index("correlation")
            self.assertEqual(set(ours.index), set(theirs.index))
            self.assertEqual(len(ours), len(theirs))
            apart = ours / 1e3 - theirs.loc[ours.index]
            for column in ("cpu_duration", "gpu_duration"):
                self.assertTrue(apart[column].between(-0.5, 2.5).all(), column)
            self.assertTrue(apart.launch_delay.between(-2.5, 0.5).all())  # its start is rounded up, the end of the call down
            self.assertEqual(side.ours["launch"]["n"], len(theirs))
            self.assertAlmostEqual(side.ours["launch"]["delay_us"], theirs.launch_delay.sum(), delta=1)

    def test_aten_operators(self):
        for side in self.sides:
            theirs = side.frame("aten")
            launched = theirs.occurrence_count * (theirs.kernel_sequence.str.count(" -> ") + 1)
            self.assertEqual(side.aten_op_of_launches().value_counts().to_dict(), launched.groupby(theirs.aten_op_name).sum().to_dict())

    def test_sequences_fail(self):
        for side in self.sides:
            self.assertEqual(side.hta["sequences"]["error"], "ValueError")
            self.assertIn("Unexpected case", side.hta["sequences"]["text"])

    def test_counters_of_the_range_profiler(self):
        for side in self.sides:
            self.assertEqual(side.hta["counters"], [])
            self.assertNotIn("counters", side.run.report())

    def test_critical_path(self):
        """Our path covers all counted steps; HTA's path of a step can cover less than half of it."""
        for side, least, most in ((self.v100, 0.9, 1.0), (self.a100, 0.4, 0.5)):
            path, steps = side.run.report()["critical_path"], side.run.table("steps").to_pandas()
            self.assertEqual(path["length_ns"], steps.wall_ns.sum())
            self.assertEqual(sum(path["parts_ns"].values()), path["length_ns"])
            self.assertTrue(side.hta["critical_path"]["found"])
            covered = side.hta["critical_path"]["duration_us"] * 1e3 / steps.wall_ns.iloc[0]
            self.assertTrue(least < covered < most, covered)

    def test_diff(self):
        """Counts and durations by name in the first steps of two traces."""
        ours = [side.in_first_step().groupby("name").duration_ns.agg(["count", "sum"]) for side in (self.v100, self.a100)]
        both = ours[0].add_suffix("_a").join(ours[1].add_suffix("_b"), how="outer").fillna(0)
        theirs = self.v100.frame("diff").set_index("name")
        self.assertEqual(set(both.index), set(theirs.index))
        self.assertLess(theirs.Control_total_duration.min(), 0)  # by rounding
        theirs = theirs.loc[both.index]
        for end, label in (("a", "Control"), ("b", "Test")):
            self.assertEqual(both[f"count_{end}"].tolist(), theirs[f"{label}_counts"].tolist())
            for name in both.index:
                self.assert_rounded(both.loc[name, f"sum_{end}"], theirs.loc[name, f"{label}_total_duration"], both.loc[name, f"count_{end}"], name)
        device = [set(rows[rows.kind.isin(list(CLASSES))].name) for rows in (self.v100.in_first_step(), self.a100.in_first_step())]
        self.assertEqual(device[1] - device[0], set(self.v100.hta["ops_diff"]["added"]))
        self.assertEqual(device[0] - device[1], set(self.v100.hta["ops_diff"]["deleted"]))


if __name__ == "__main__":
    support.main()
