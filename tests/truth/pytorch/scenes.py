"""Reports and clocks for the tests of this folder."""
import cells

CLEAN = cells.Cell("ddp", "none", 2)
SLOW = cells.Cell("ddp", "sleep", 2)
MS = 1_000_000


def met(*steps, members=()):
    """Of one rank: when it was ready to meet the others in each step, in ms."""
    return [[[instant * MS, list(members)]] for instant in steps]


LATE = [met(0, 100, 200), met(0, 140, 240)]  # rank 1 is 40 ms late from the second step on


def slow(rank=1, kind="host", function="Fault.work"):
    return {"rank": rank, "kind": kind, "code": {"function": function, "file": "faults.py", "line": 50}}


def report(stragglers=(), waits=(40, 0), matched=10, links=(), doubt=None, findings=()):
    """`waits` in ms per step."""
    return {"steps": [{"index": index, "complete": True, "warm_up": False} for index in (1, 2)], "stragglers": list(stragglers),
            "straggler_basis": {"cannot_tell": doubt}, "collectives": {"matched": matched},
            "findings": [*findings, *({"id": "slow_tcp_link", "rank": rank} for rank in links)],
            "ranks": [{"rank": rank, "wait_ns": int(2 * wait * MS)} for rank, wait in enumerate(waits)]}
