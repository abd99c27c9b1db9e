"""Trainings with known faults, and what a report must say of them."""
import dataclasses

PACE_MS = 100  # nominal compute time of a step, so that ranks do not disturb one another on few cores
SIZES = {"slow": (1.2, 1.5, 2), "data": (0.10, 0.25, 0.50), "pause": (0.10, 0.25, 0.50), "comm": (0.10, 0.25, 0.50)}
KINDS = {"slow": "compute", "data": "data", "pause": "host", "comm": "network"}
OF_TWO_FROM = 1.25  # two ranks: which one is slower must be said from this slowdown on


@dataclasses.dataclass(frozen=True)
class Case:
    """One training. `row` is (rank, kind, persistence) of the straggler that must be named, `lost` (rank, step)."""
    name: str
    ranks: int
    fault: str = ""
    row: tuple = None
    lost: tuple = None
    factor: float = None    # of the slow rank's compute
    delay_ms: float = None  # added to each step of the slow rank

    @property
    def persistent(self):
        return self.row is not None and self.row[2] == "persistent"

    @property
    def predicts(self):
        """Whether `whatif --fix rank:R` is compared with the clean run."""
        return self.persistent and self.row[1] in ("compute", "data", "host")


def short_list(ranks):
    """One case of each kind."""
    last = ranks - 1
    middle = ranks // 2
    return [
        Case("clean", ranks),
        Case("slow", ranks, f"slow:rank={middle},factor=1.5", (middle, "compute", "persistent"), factor=1.5),
        Case("data", ranks, "data:rank=1,ms=30", (1, "data", "persistent"), delay_ms=30),
        Case("pause", ranks, f"pause:rank={last},ms=200,every=10", (last, "host", "transient")),
        Case("comm", ranks, "comm:rank=0,ms=20", (0, "network", "persistent"), delay_ms=20),
        Case("exit", ranks, "exit:rank=1,step=5", lost=(1, 5)),
        Case("kill", ranks, "kill:rank=1,step=5", lost=(1, 5)),
    ]


def suite(ranks, step_ms):
    """Each kind in three sizes; delays are shares of a clean step."""
    cases = []
    for factor in SIZES["slow"]:
        rank = ranks // 2
        cases.append(Case(f"slow {factor}", ranks, f"slow:rank={rank},factor={factor}", (rank, "compute", "persistent"),
                          factor=factor))
    for kind, rank, rest in (("data", 1, ""), ("pause", ranks - 1, ",every=1"), ("comm", 0, "")):
        for share in SIZES[kind]:
            delay = max(1, round(share * step_ms))
            cases.append(Case(f"{kind} {share:.0%}", ranks, f"{kind}:rank={rank},ms={delay}{rest}",
                              (rank, KINDS[kind], "persistent"), delay_ms=delay))
    return cases + [case for case in short_list(ranks) if case.lost]
