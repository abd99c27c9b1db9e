"""How long each rank waited by the clocks of a script, and whether a report says the same."""
import collections
import statistics

TOLERANCE = 0.10
SHORT_NS, SHORT_TOLERANCE_NS = 10_000_000, 2_000_000  # of short waits per step, what the scheduling of threads costs is a large part


def admits(by_clock, told):
    return abs(told - by_clock) <= (SHORT_TOLERANCE_NS if by_clock < SHORT_NS else TOLERANCE * by_clock)


def covered(intervals):
    """The time in at least one of them."""
    total, end = 0, None
    for begin, until in sorted(intervals):
        begin = begin if end is None else max(begin, end)
        total += max(0, until - begin)
        end = until if end is None else max(until, end)
    return total


def of_step(meetings):
    """Per rank, how long it was ready for a meeting before the last member was, over its meetings of one step."""
    met = collections.defaultdict(dict)
    for rank, of_rank in enumerate(meetings):
        times = collections.Counter()
        for instant, members in of_rank:
            met[tuple(members), times[tuple(members)]][rank] = instant
            times[tuple(members)] += 1
    waited = [[] for _ in meetings]
    for instants in met.values():
        for rank, instant in instants.items():
            waited[rank].append((instant, max(instants.values())))
    return [covered(intervals) for intervals in waited]


def by_clocks(clocks, steps):
    """Per rank, ns per step over the steps with these numbers."""
    return [statistics.mean(of_rank) for of_rank in zip(*(of_step([rank[step] for rank in clocks]) for step in steps))]


def in_ms(ns):
    return f"{ns / 1e6:.1f} ms"


def compare(cell, report, clocks):
    """What is wrong with the waits of the report (nothing: ""), and of each rank: by the report and by the clocks, in ms per step."""
    if isinstance(report["ranks"], dict) or isinstance(report["steps"], dict):
        return "the report has no waits of steps", []
    steps = [step["index"] for step in report["steps"] if step["complete"] and not step["warm_up"]]
    if not steps or max(steps) >= min(map(len, clocks)):
        return f"the report counts {f'step {max(steps)}' if steps else 'no step'} of {len(clocks[0])}", []
    if isinstance(report["collectives"], dict) and not report["collectives"].get("matched"):
        return "the report has no waits: no operation was matched", []
    if len(report["ranks"]) != cell.ranks:
        return f"the report has {len(report['ranks'])} of {cell.ranks} ranks", []
    wrong, compared, expected = [], [], by_clocks(clocks, steps)
    for row in report["ranks"]:
        if row["wait_ns"] is None:  # no collectives were recorded
            return f"the report has no waits of rank {row['rank']}: {row['why']['wait_ns']}", []
        told, by_clock = row["wait_ns"] / len(steps), expected[row["rank"]]
        compared.append([round(ns / 1e6, 3) for ns in (told, by_clock)])
        if not admits(by_clock, told):
            wrong.append(f"rank {row['rank']} waits {in_ms(told)} per step, by the clocks {in_ms(by_clock)}")
    return "; ".join(wrong), compared
