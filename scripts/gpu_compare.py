"""What scripts/gpu-check concludes from its runs: nothing here needs a GPU. Tested by tests/scripts/gpu_compare_test.py."""
import collections
import dataclasses
import gzip
import json
import math
import pathlib
import re
import statistics

MOST_SHARE, MOST_NS = 0.02, 200  # by which a median duration may differ: the larger of both
RESOLUTION_NS = 2_000  # of the timer that the GPU reads itself, twice
WORK = ("kernel", "gpu_memcpy", "gpu_memset")
MARKER = "spin_kernel"
MOST_COST, TOLERANCE = 0.01, 0.005  # of a step: what recording may cost, and what two profilers may differ by
MOST_APART = 1e-9  # of losses in double precision
LEAST_ROUNDS = 2  # of runs of each way that are compared
LEAST_TIMED = 0.95  # of collectives
CAP_SYS_ADMIN, CAP_PERFMON = 21, 38  # linux/capability.h


@dataclasses.dataclass
class Check:
    """One sentence that is true or not; `passed` is None where it could not be tried, and `said` is the reason then."""

    what: str
    passed: bool | None
    said: str
    excused: bool = False  # not tried, because this machine cannot run it, whatever the recorder does

    @property
    def word(self):
        return "not tried" if self.passed is None else "passed" if self.passed else "FAILED"


@dataclasses.dataclass
class Activity:
    category: str
    name: str
    stream: object
    begin_ns: int
    ns: int
    bytes: int


def nanoseconds(value):
    """Kineto's microseconds as text or number, without the loss of a double."""
    whole, _, part = str(value).partition(".")
    return int(whole) * 1000 + int((part + "000")[:3])


def load(path):
    """GPU work of a Kineto trace, by begin. `rankscope export --to kineto` writes the same format."""
    data = pathlib.Path(path).read_bytes()
    text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    found = []
    for event in json.loads(text, parse_float=str)["traceEvents"]:
        if event.get("ph") != "X" or event.get("cat") not in WORK:
            continue
        args = event.get("args", {})
        found.append(Activity(event["cat"], plain_name(event["name"]), args.get("stream", event.get("tid")), nanoseconds(event["ts"]),
                              nanoseconds(event["dur"]), int(args.get("bytes", 0))))
    return sorted(found, key=lambda activity: activity.begin_ns)


def plain_name(name):
    """Without what writers do differently: blanks. Of copies and fills only what they are."""
    copy = re.match(r"Mem(cpy|set) ?(\w*)", name)
    if copy:
        return f"Mem{copy[1]} {copy[2]}".strip()
    return re.sub(r"\s+", "", name)


def behind_marker(activities):
    """What both profilers saw: all behind the last marker. Without one nothing is comparable."""
    places = [i for i, activity in enumerate(activities) if MARKER in activity.name]
    return activities[places[-1] + 1:] if places else None


def by_stream(activities):
    """Names in order for each stream; streams are numbered anew, since two runs number them differently."""
    streams = collections.OrderedDict()
    for activity in activities:
        streams.setdefault(activity.stream, []).append(activity.name)
    return list(streams.values())


def differing_medians(ours, theirs):
    """(name, our median, their median) of kernels where they differ by more than is allowed."""
    mine, other = collections.defaultdict(list), collections.defaultdict(list)
    for durations, activities in ((mine, ours), (other, theirs)):
        for activity in kernels_of(activities):
            durations[activity.name].append(activity.ns)
    found = []
    for name in sorted(mine.keys() & other.keys()):
        a, b = statistics.median(mine[name]), statistics.median(other[name])
        if abs(a - b) > max(MOST_SHARE * b, MOST_NS):
            found.append((name, a, b))
    return found


def kernels_of(activities):
    """How long a copy takes depends on where a run happens to have its memory on the host."""
    return [activity for activity in activities if activity.category == "kernel"]


def said_of(differing):
    return "; ".join(f"{name[:60]}: {a:.0f} and {b:.0f} ns" for name, a, b in differing[:5])


def compare(ours, theirs, again=None):
    """Checks of our recording of a PyTorch program against Kineto's of another run of it. `again` makes another pair of both,
    asked for where durations differ: the clocks of a GPU drift between runs, and only what differs in both pairs is ours."""
    ours, theirs = behind_marker(ours), behind_marker(theirs)
    if ours is None or theirs is None:
        return [Check("both recordings have the marker", False, "missing in " + ("rankscope's" if ours is None else "Kineto's"))]
    checks = []
    for category in WORK:
        counts = [collections.Counter(a.name for a in side if a.category == category) for side in (ours, theirs)]
        wrong = {name: (counts[0][name], counts[1][name]) for name in counts[0] | counts[1] if counts[0][name] != counts[1][name]}
        said = "; ".join(f"{name[:60]}: {a} and {b}" for name, (a, b) in sorted(wrong.items())[:5]) or f"{counts[0].total()} in both"
        there = counts[1].total() > 0 or category == "gpu_memset"  # which PyTorch need not use
        checks.append(Check(f"the same number of each {category} as in Kineto's trace", not wrong and there, said))
    same = sorted(by_stream(ours)) == sorted(by_stream(theirs))
    checks.append(Check("the same order of activities on each stream as in Kineto's trace", same, f"{len(by_stream(ours))} and {len(by_stream(theirs))} streams"))
    moved = [sum(a.bytes for a in side) for side in (ours, theirs)]
    checks.append(Check("the same number of bytes copied and filled as in Kineto's trace", moved[0] == moved[1], f"{moved[0]} and {moved[1]}"))
    checks.append(check_medians(ours, theirs, again))
    return checks


def check_medians(ours, theirs, again):
    names = {a.name for a in kernels_of(ours)} & {a.name for a in kernels_of(theirs)}
    wrong = differing_medians(ours, theirs)
    said = said_of(wrong) or f"{len(names)} names"
    if wrong and again is not None:
        others = [behind_marker(side) or [] for side in again()]
        in_both = {a.name for a in others[0]} & {a.name for a in others[1]}
        still = {name for name, _, _ in differing_medians(*others)} | (names - in_both)
        said = f"{len(names)} names; in one pair of runs only: {said}" if not any(one[0] in still for one in wrong) else said
        wrong = [one for one in wrong if one[0] in still]
    return Check("median durations of kernels within 2 % or 200 ns of Kineto's", bool(names) and not wrong, said)


def check_counts(recorded, told):
    """Checks of our recording of samples/gpu/kernels.cu against what that program says it did."""
    kernels = collections.Counter(a.name.partition("(")[0] for a in recorded if a.category == "kernel")
    checks = [Check("each kernel of the CUDA program was recorded", kernels == collections.Counter(told["kernels"]),
                    f"recorded {dict(sorted(kernels.items()))}, launched {dict(sorted(told['kernels'].items()))}")]
    return checks + check_moves(recorded, told)


def check_moves(recorded, told):
    checks = []
    for name, (count, size) in told["copies"].items():
        found = [a for a in recorded if a.name == f"Memcpy {name}"]
        checks.append(Check(f"each copy {name} was recorded, with its bytes", (len(found), sum(a.bytes for a in found)) == (count, size),
                            f"{len(found)} of {count}, {sum(a.bytes for a in found)} of {size} bytes"))
    found = [a for a in recorded if a.category == "gpu_memset"]
    count, size = told["memsets"]
    checks.append(Check("each memset was recorded, with its bytes", (len(found), sum(a.bytes for a in found)) == (count, size),
                        f"{len(found)} of {count}, {sum(a.bytes for a in found)} of {size} bytes"))
    return checks


def check_times(recorded, told):
    """What lasts as long as it says, and nothing at the same time on a stream."""
    checks = []
    for name, least in told["at_least_ns"].items():
        if told["all"]["kernels"].get(name, 0) == 0:
            continue
        times = [a.ns for a in recorded if a.category == "kernel" and a.name.partition("(")[0] == name]
        checks.append(Check(f"{name} lasts as long as its own timer says", bool(times) and min(times) >= least - RESOLUTION_NS and statistics.median(times) < 2 * least,
                            f"{min(times)} to {max(times)} ns, at least {least} by the GPU's timer" if times else "none recorded"))
    ends, overlaps = {}, []
    for activity in recorded:
        overlaps.append(max(ends.get(activity.stream, 0) - activity.begin_ns, 0))
        ends[activity.stream] = max(ends.get(activity.stream, 0), activity.begin_ns + activity.ns)
    checks.append(Check("one activity at a time on each stream", max(overlaps, default=0) <= RESOLUTION_NS,
                        f"{sum(ns > 0 for ns in overlaps)} overlaps in {len(recorded)} activities, at most {max(overlaps, default=0)} ns long"))
    return checks


def check_samples(busy, samples, hz):
    """Checks of sm_active_percent, sampled `hz` times a second, against `busy`, the time of the kernels that held every SM: the
    program was idle for a second on either side. Times in ns."""
    what = "SMs are active while kernels occupy all of them, and idle otherwise"
    if busy is None or len(samples) < 2:
        return [Check(what, False, f"{'no' if busy is None else 'the'} kernels and {len(samples)} samples were recorded")]
    begin, end = busy
    margin, idle = 50_000_000, 800_000_000
    during = [value for time, value in samples if begin + margin <= time <= end - margin]
    before = [value for time, value in samples if begin - idle <= time <= begin - margin]
    behind = [value for time, value in samples if end + margin <= time <= end + idle]
    wanted = [hz * (end - begin - 2 * margin) / 2e9, hz * (idle - margin) / 2e9]  # half of the samples that there should be
    counts = f"{len(during)} samples while busy (at least {wanted[0]:.0f}), {len(before)} before and {len(behind)} after (at least {wanted[1]:.0f})"
    checks = [Check("samples come as often as requested, while busy and while idle", len(during) >= wanted[0] and len(behind) >= wanted[1], counts)]
    if not during or not behind:
        return checks + [Check(what, False, counts)]
    still, at_work = statistics.median(before + behind), statistics.median(during)
    return checks + [Check(what, at_work > 50 and still < 20, f"median {at_work:.1f} % while busy, {still:.1f} % while idle"),
                     Check("no sample is above 100 %", all(value <= 100.5 for _, value in samples), f"at most {max(value for _, value in samples):.1f} %")]


def excuse(what, why):
    """A check of something that this machine cannot run."""
    return Check(what, None, f"not tried, because {why}", excused=True)


def forgiven(problem, driver_params, own_status, doctor, mig=False):
    """Why the GPU's own counters may be refused for reasons that are not ours; empty if they may not. `driver_params` is
    /proc/driver/nvidia/params, `own_status` /proc/self/status, `doctor` what `rankscope doctor` says, `mig` whether MIG divides
    the GPU."""
    if "does not offer these counters" in problem and mig:
        return "nvidia-smi says that MIG divides the GPU"
    if "is not allowed to read" in problem:
        kept = re.search(r"^RmProfilingAdminOnly: *1 *$", driver_params, re.M)
        held = re.search(r"^CapEff:\s*([0-9a-fA-F]+)", own_status, re.M)
        bits = int(held[1], 16) if held else 0
        privileged = bits >> CAP_SYS_ADMIN & 1 or bits >> CAP_PERFMON & 1
        return "RmProfilingAdminOnly is 1, and this process has neither CAP_SYS_ADMIN nor CAP_PERFMON" if kept and held and not privileged else ""
    if "another program is using" in problem:
        other = re.search(r"^\w+ +other profilers +(.+)$", doctor, re.M)
        return f"rankscope doctor names {other[1]}" if other and other[1].strip() != "none running" else ""
    return ""


def check_nvml(counters, metadata, uuids, without=None):
    """`counters` {name: values} of a recording, `metadata` its values of nvml_gpu_0, `uuids` those that nvidia-smi tells. `without`
    {counter: why it is missing} of a GPU that MIG divides, whose values NVML need not tell."""
    told = metadata[0].split()[0] if metadata else ""
    checks = [Check("NVML and nvidia-smi see the same GPU", told in uuids, f"{told or 'no nvml_gpu_0'}; nvidia-smi: {', '.join(uuids) or 'none'}")]
    for name, most in (("memory_used_bytes", 2e12), ("power_watts", 5000), ("sm_clock_mhz", 10000), ("temperature_celsius", 150)):
        values = counters.get(f"GPU 0 {name}", [])
        if not values and name in (without or {}):
            checks.append(excuse(f"NVML reports {name}", f"MIG divides the GPU, and NVML does not tell it: {without[name]}"))
            continue
        sane = bool(values) and all(0 < value < most for value in values)
        checks.append(Check(f"NVML reports {name}", sane, f"{len(values)} values" + (f", {min(values):g} to {max(values):g}" if values else "")))
    return checks


def check_collectives(rows):
    """`rows` are (group, sequence, bytes, operation) of NCCL's collectives."""
    lacking = [row for row in rows if row[0] is None or row[1] is None or row[2] is None or row[2] <= 0]
    said = f"{len(rows)} collectives, {len(lacking)} of them incomplete" + (f", such as {lacking[0]}" if lacking else f", such as {rows[0]}" if rows else "")
    return Check("NCCL's collectives have a group, a sequence number and their bytes", bool(rows) and not lacking, said)


def check_timed(timed, all_of_them):
    """Of collectives recorded with --nccl kernel: those that ran while the recording ended may lack an end."""
    return Check("--nccl kernel records the times of collectives from the GPU's timer", all_of_them > 0 and timed >= LEAST_TIMED * all_of_them, f"{timed} of {all_of_them} have times")


def check_operations(words, matched, alone, not_announced):
    """Of two ranks of the trainer, which announces each operation that it gives to NCCL. In `pp` ranks only send and receive."""
    what = f"train {' '.join(words)}: all operations are matched, and each operation of NCCL is an announced one"
    return Check(what, alone == 0 and not_announced == 0 and (matched > 0 or "pp" in words), f"{matched} matched, {alone} not; {not_announced} not announced")


def check_losses(what, losses, expected):
    """What is no number agrees with nothing, wherever it stands."""
    apart = [abs(a - b) / abs(b) if b else abs(a) for a, b in zip(losses, expected)]
    same = bool(apart) and len(losses) == len(expected) and all(one < MOST_APART for one in apart)
    most = next((one for one in apart if math.isnan(one)), max(apart, default=1.0))
    return Check(what, same, f"{len(losses)} of {len(expected)} steps, relative difference at most {most:.1e}")


@dataclasses.dataclass
class Cost:
    """Step times of one way to run a program: the median of each run, in ns."""

    medians: list

    @property
    def best(self):
        return min(self.medians)

    def text(self, base):
        middle = statistics.median(self.medians)
        return (f"best {self.best / 1e3:.1f} µs ({100 * (self.best / base - 1):+.2f} %), median {middle / 1e3:.1f}, "
                f"{min(self.medians) / 1e3:.1f} to {max(self.medians) / 1e3:.1f} in {len(self.medians)} runs")


def costs_of(runs):
    """`runs` {way: one list of step times in ns for each run}."""
    return {way: Cost([statistics.median(times) for times in lists]) for way, lists in runs.items() if lists}


def check_costs(what, runs, most=MOST_COST):
    """Checks of what recording costs a step of `what`, by the best of several runs each; `most` is None where no share is promised. One
    run each says nothing: two runs of one program differ by more."""
    costs = costs_of(runs)
    base = costs["alone"].best
    checks = []

    def add(name, ways, holds, said):
        enough = min(len(costs[way].medians) for way in ways) >= LEAST_ROUNDS
        checks.append(Check(name, holds if enough else None, said if enough else f"only one run each: {said}"))

    for way in ("recorded", "with --pytorch"):
        if way not in costs or "torch.profiler" not in costs:
            checks.append(Check(f"a step of {what} was measured {way}", None, "no time was left"))
            continue
        said = f"alone {costs['alone'].text(base)}; {way} {costs[way].text(base)}"
        if most is not None:
            add(f"a step of {what} takes at most {100 * most:g} % longer {way}", ("alone", way), costs[way].best <= (1 + most) * base, said)
        kineto = costs["torch.profiler"]
        add(f"a step of {what} takes no longer {way} than under torch.profiler", (way, "torch.profiler"), costs[way].best <= (1 + TOLERANCE) * kineto.best,
            f"{way} {costs[way].text(base)}; torch.profiler {kineto.text(base)}")
    if "Nsight Systems" in costs:
        checks.append(Check(f"Nsight Systems was measured as well ({what})", True, costs["Nsight Systems"].text(base)))
    return checks
