"""The table of programs and faults, and what a report must say of each."""
import dataclasses
import fnmatch

KIND_OF = {"sleep": "host", "loader": "data", "workers": "data", "compute": "compute", "batch": "compute", "gc": "host"}
SOURCES = ("live", "kineto3", "kineto20")  # recorded by rankscope, or by torch.profiler for that many steps
# The functions of the scripts that lose the time; a larger batch takes longer wherever the network computes.
FUNCTIONS = {"sleep": ("Fault.work",), "loader": ("Fault.load",), "workers": ("Fault.load",), "gc": ("Fault.work",), "compute": ("Fault.extra_layers",),
             "batch": ("main", "Classifier.forward")}


@dataclasses.dataclass(frozen=True)
class Cell:
    script: str
    fault: str
    ranks: int
    source: str = "live"

    @property
    def name(self):
        return ":".join([self.script, self.fault, str(self.ranks)] + ([self.source] if self.source != "live" else []))

    @property
    def clean(self):
        return self.fault == "none"

    @property
    def names_function(self):
        """Only what rankscope records has samples of the code."""
        return self.source == "live" and self.fault in FUNCTIONS

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
    """For each test run: two programs, three faults, and traces of three steps. Waits in traces follow from durations, so the ranks of
    those must have a core each, also on a small machine; the whole table has them with four ranks."""
    return ([Cell("ddp", fault, 4) for fault in ("none", "sleep", "loader")] + [Cell("fsdp", fault, 2) for fault in ("none", "sleep")]
            + [Cell("ddp", fault, 2, "kineto3") for fault in ("none", "sleep")])


def cell_of(name):
    script, fault, ranks, *source = name.split(":")
    return Cell(script, fault, int(ranks), *source)


def chosen(patterns):
    """The cells of the table whose names match; also with ":live" at the end."""
    def matches(cell, pattern):
        return any(fnmatch.fnmatchcase(name, pattern) for name in (cell.name, f"{cell.script}:{cell.fault}:{cell.ranks}:{cell.source}"))

    unknown = [pattern for pattern in patterns if not any(matches(cell, pattern) for cell in table())]
    if unknown:
        raise ValueError(f"no cell of the table is called {unknown[0]}")
    return [cell for cell in table() if any(matches(cell, pattern) for pattern in patterns)]
