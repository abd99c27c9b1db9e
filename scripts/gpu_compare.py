"""What scripts/gpu-check concludes from its runs: nothing here needs a GPU. Tested by tests/scripts/gpu_compare_test.py."""
import collections
import dataclasses
import gzip
import json
import pathlib
import re
import sqlite3
import statistics

MOST_SHARE, MOST_NS = 0.02, 200  # by which a median duration may differ: the larger of both
RESOLUTION_NS = 2_000  # of the timer that the GPU reads itself, twice
WORK = ("kernel", "gpu_memcpy", "gpu_memset")
MARKER = "spin_kernel"


@dataclasses.dataclass
class Check:
    """One sentence that is true or not; `passed` is None where it could not be tried, and `said` is the reason then."""

    what: str
    passed: bool | None
    said: str


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
    """(name, our median, their median) where they differ by more than is allowed."""
    mine, other = collections.defaultdict(list), collections.defaultdict(list)
    for durations, activities in ((mine, ours), (other, theirs)):
        for activity in activities:
            durations[activity.name].append(activity.ns)
    found = []
    for name in sorted(mine.keys() & other.keys()):
        a, b = statistics.median(mine[name]), statistics.median(other[name])
        if abs(a - b) > max(MOST_SHARE * b, MOST_NS):
            found.append((name, a, b))
    return found


def compare(ours, theirs):
    """Checks of our recording of a PyTorch program against Kineto's of another run of it."""
    ours, theirs = behind_marker(ours), behind_marker(theirs)
    if ours is None or theirs is None:
        return [Check("both recordings have the marker", False, "missing in " + ("ours" if ours is None else "Kineto's"))]
    checks = []
    for category in WORK:
        counts = [collections.Counter(a.name for a in side if a.category == category) for side in (ours, theirs)]
        wrong = {name: (counts[0][name], counts[1][name]) for name in counts[0] | counts[1] if counts[0][name] != counts[1][name]}
        said = "; ".join(f"{name[:60]}: {a} and {b}" for name, (a, b) in sorted(wrong.items())[:5]) or f"{counts[0].total()} in both"
        checks.append(Check(f"as many of each {category} as Kineto", not wrong and counts[1].total() > 0, said))
    same = sorted(by_stream(ours)) == sorted(by_stream(theirs))
    checks.append(Check("in the same order on each stream", same, f"{len(by_stream(ours))} and {len(by_stream(theirs))} streams"))
    moved = [sum(a.bytes for a in side) for side in (ours, theirs)]
    checks.append(Check("as many bytes copied and filled as Kineto", moved[0] == moved[1], f"{moved[0]} and {moved[1]}"))
    wrong = differing_medians(ours, theirs)
    names = {a.name for a in ours} & {a.name for a in theirs}
    said = "; ".join(f"{name[:60]}: {a:.0f} and {b:.0f} ns" for name, a, b in wrong[:5]) or f"{len(names)} names"
    checks.append(Check("median durations within 2 % or 200 ns of Kineto's", bool(names) and not wrong, said))
    return checks


def check_counts(recorded, told):
    """Checks of our recording of samples/gpu/kernels.cu against what that program says it did."""
    kernels = collections.Counter(a.name.partition("(")[0] for a in recorded if a.category == "kernel")
    checks = [Check("each kernel of the CUDA program was recorded", kernels == collections.Counter(told["kernels"]),
                    f"recorded {dict(sorted(kernels.items()))}, launched {dict(sorted(told['kernels'].items()))}")]
    for name, (count, size) in told["copies"].items():
        found = [a for a in recorded if a.name == f"Memcpy {name}"]
        checks.append(Check(f"each copy {name}, with its bytes", (len(found), sum(a.bytes for a in found)) == (count, size),
                            f"{len(found)} of {count}, {sum(a.bytes for a in found)} of {size} bytes"))
    found = [a for a in recorded if a.category == "gpu_memset"]
    count, size = told["memsets"]
    checks.append(Check("each memset, with its bytes", (len(found), sum(a.bytes for a in found)) == (count, size),
                        f"{len(found)} of {count}, {sum(a.bytes for a in found)} of {size} bytes"))
    for name, least in told["at_least_ns"].items():
        times = [a.ns for a in recorded if a.category == "kernel" and a.name.partition("(")[0] == name]
        checks.append(Check(f"{name} lasts as long as it says", bool(times) and min(times) >= least - RESOLUTION_NS and statistics.median(times) < 2 * least,
                            f"{min(times)} to {max(times)} ns, at least {least} by the GPU's timer" if times else "none recorded"))
    ends, overlaps = {}, 0
    for activity in recorded:
        overlaps += activity.begin_ns < ends.get(activity.stream, 0)
        ends[activity.stream] = max(ends.get(activity.stream, 0), activity.begin_ns + activity.ns)
    checks.append(Check("one thing at a time on each stream", overlaps == 0, f"{overlaps} overlaps in {len(recorded)}"))
    return checks


def sampled(database):
    """From `rankscope export --to sqlite`: spans of kernels (begin, end), samples of sm_active_percent (time, value) and why there are none."""
    connection = sqlite3.connect(database)
    try:
        kernels = connection.execute("SELECT begin_ns, begin_ns + duration_ns FROM span_list WHERE kind = 'compute' ORDER BY begin_ns").fetchall()
        samples = connection.execute("SELECT time_ns, value FROM samples JOIN counters ON counters.id = counter_id JOIN strings ON strings.id = name_id "
                                     "WHERE text LIKE '% sm_active_percent' ORDER BY time_ns").fetchall()
        problem = connection.execute("SELECT value.text FROM process_metadata JOIN strings AS key ON key.id = key_id "
                                     "JOIN strings AS value ON value.id = value_id WHERE key.text = 'pm_problem'").fetchone()
    except sqlite3.Error as problem:
        raise ValueError(f"{database}: {problem}") from problem
    finally:
        connection.close()
    return kernels, samples, problem[0] if problem else ""


def check_samples(kernels, samples, problem):
    """Checks of the GPU's own counters, recorded with --pm-sampling, against the kernels that ran meanwhile."""
    what = "an SM is active while kernels run"
    if problem:
        return [Check(what, None if "may not read" in problem or "another program holds" in problem else False, problem)]
    if not kernels or len(samples) < 2:
        return [Check(what, False, f"{len(kernels)} kernels and {len(samples)} samples were recorded")]
    first, last = kernels[0][0], max(end for _, end in kernels)
    period = statistics.median(later[0] - earlier[0] for earlier, later in zip(samples, samples[1:]))
    during = [value for time, value in samples if first - period < time < last]
    said = f"{len(during)} of {len(samples)} samples while kernels ran, {min(during):.1f} to {max(during):.1f} %" if during else f"none of {len(samples)} samples lies there"
    return [Check(what, bool(during) and max(during) > 0, said),
            Check("no sample is above 100 %", all(value <= 100.5 for _, value in samples), f"{max(value for _, value in samples):.1f} % at most")]


def overhead(runs):
    """`runs` are lists of step times in ns, one list per run: alone, recorded, with --pytorch, under torch.profiler."""
    median = {name: statistics.median(time for times in lists for time in times) for name, lists in runs.items()}
    said = ", ".join(f"{name} {ns / 1e3:.1f} µs ({100 * (ns / median['alone'] - 1):+.2f} %)" for name, ns in median.items())
    return [Check("a recorded step takes at most 1 % longer than alone", median["recorded"] <= 1.01 * median["alone"], said),
            Check("with --pytorch it takes less than under torch.profiler", median["with --pytorch"] < median["torch.profiler"], said)]


def device_slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower().replace("nvidia", "")).strip("-") or "unknown"


def evidence(facts, sections):
    """The page docs/evidence/gpu-<device>.md: `facts` are pairs, `sections` are (title, checks)."""
    checks = [check for _, group in sections for check in group]
    failed = [check for check in checks if check.passed is False]
    skipped = [check for check in checks if check.passed is None]
    passed = len(checks) - len(failed) - len(skipped)
    lines = [f"# On {dict(facts).get('device', 'an unknown GPU')}", "",
             f"Written by `scripts/gpu-check`: {passed} checks passed, {len(failed)} failed, {len(skipped)} could not be tried.", "",
             "| | |", "|---|---|", *(f"| {key} | {cell(value)} |" for key, value in facts)]
    for title, group in sections:
        lines += ["", f"## {title}", "", "| check | | seen |", "|---|---|---|"]
        lines += [f"| {cell(check.what)} | {'**failed**' if check.passed is False else 'passed' if check.passed else 'not tried'} | {cell(check.said)} |"
                  for check in group]
    return "\n".join(lines) + "\n"


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")
