"""The table of programs and faults, and what a report must say of each."""
import dataclasses
import statistics

KIND_OF = {"sleep": "host", "loader": "data", "workers": "data", "compute": "compute", "batch": "compute", "gc": "host"}
SOURCES = ("live", "kineto3", "kineto20")  # recorded by rankscope, or by torch.profiler for that many steps
# The functions of the scripts that lose the time; a larger batch takes longer wherever the network computes.
FUNCTIONS = {"sleep": ("Fault.work",), "loader": ("Fault.load",), "workers": ("Fault.load",), "gc": ("Fault.work",), "compute": ("Fault.extra_layers",),
             "batch": ("main", "Classifier.forward")}
WAIT_TOLERANCE = 0.10
LEAST_WAIT_NS = 10_000_000  # shorter ones of a step are noise
MEETS_ONCE = ("ddp", "accumulate")  # the others go on meeting within a step, where their clocks do not look: they may wait longer
AFTER_MEETING = ("batch",)  # so do those whose fault goes on in backward


@dataclasses.dataclass(frozen=True)
class Cell:
    script: str
    fault: str
    ranks: int
    source: str = "live"

    @property
    def name(self):
        return ":".join([self.script, self.fault, str(self.ranks)] + ([self.source] if self.source != "live" else []))

    def fault_options(self):
        """Workers hide what a batch takes as long as all of them together keep up."""
        return ["--fault", "loader", "--workers", "2"] if self.fault == "workers" else ["--fault", self.fault]

    @property
    def profiled_steps(self):
        """How many torch.profiler records; 0 where rankscope does."""
        return int(self.source.removeprefix("kineto")) if self.source != "live" else 0

    @property
    def slow_rank(self):
        return self.ranks // 2


def table():
    """A pause of every tenth step is not in a trace of three, nor are connections. Two ranks are one pair: they have no second group."""
    faults = {"ddp": ("none", "sleep", "loader", "workers", "compute", "batch", "gc", "link"), "fsdp": ("none", "sleep", "compute"),
              "accumulate": ("none", "sleep", "compute", "link"), "groups": ("none", "sleep", "compute"), "pipeline": ("none", "sleep", "compute")}
    return [Cell(script, fault, ranks, source) for source in SOURCES for ranks in (2, 4) for script in faults for fault in faults[script]
            if (source == "live" or fault not in ("gc", "link")) and (ranks == 4 or script not in ("groups", "pipeline"))]


def short_table():
    """For each test run: two programs, three faults, and a trace of three steps."""
    return ([Cell("ddp", fault, 4) for fault in ("none", "sleep", "loader")] + [Cell("fsdp", fault, 2) for fault in ("none", "sleep")]
            + [Cell("ddp", fault, 4, "kineto3") for fault in ("none", "sleep")])


def waits_by_clocks(clocks, steps):
    """Per rank, ns per step: how long it was ready before the last rank was, over the steps from `steps` on."""
    begun = list(zip(*clocks))[steps:]
    return [statistics.mean(max(step) - step[rank] for step in begun) for rank in range(len(clocks))]


def judge_waits(cell, report, clocks):
    """None, or which rank's waiting is not that of the script's clocks."""
    counted = sum(1 for step in report["steps"] if step["complete"] and not step["warm_up"])
    expected = waits_by_clocks(clocks, len(clocks[0]) - counted)
    for row in report["ranks"]:
        if row["wait_ns"] is None:  # no collectives were recorded
            return f"rank {row['rank']}: {row['why']['wait_ns']}"
        by_clock, told = expected[row["rank"]], row["wait_ns"] / max(counted, 1)
        longer = cell.script not in MEETS_ONCE or cell.fault in AFTER_MEETING
        if by_clock < LEAST_WAIT_NS or (longer and told > by_clock):
            continue
        if abs(told / by_clock - 1) > WAIT_TOLERANCE:
            return f"rank {row['rank']} waits {told / 1e6:.1f} ms per step, by its own clock {by_clock / 1e6:.1f} ms"
    return None


def judge_function(cell, row):
    """None, or what the report says of the code of a straggler."""
    code = row.get("code")
    if code is None:
        return "no function is named"
    if code["function"] not in FUNCTIONS[cell.fault]:
        return f"function: {code['function']}, {code['file']}:{code['line']}"
    return None


def judge(cell, report, clocks):
    """None when the report says what it must, else what it said instead."""
    if isinstance(report["stragglers"], dict):
        return "stragglers: " + report["stragglers"].get("unavailable", "?")
    if isinstance(report["collectives"], dict) and not report["collectives"].get("matched"):
        return "no collective was matched"
    links = [finding["rank"] for finding in report["findings"] if finding["id"] == "slow_tcp_link"]
    wanted_links = [cell.slow_rank] if cell.fault == "link" else []
    if links and links != wanted_links:
        return f"slow connections of ranks {links}"
    if report.get("straggler_basis", {}).get("cannot_tell") and not report["stragglers"] and (not links or cell.fault != "link"):
        return "cannot tell" if cell.fault != "none" else None
    found = [(row["rank"], row["kind"]) for row in report["stragglers"]]
    wanted = [(cell.slow_rank, KIND_OF[cell.fault])] if cell.fault in KIND_OF else []
    if found != wanted:
        return f"stragglers: {found}"
    if links != wanted_links:
        return f"slow connections of ranks {links}"
    problem = judge_function(cell, report["stragglers"][0]) if wanted and cell.source == "live" else None
    return problem or judge_waits(cell, report, clocks)
