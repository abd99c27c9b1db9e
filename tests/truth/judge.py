"""Compares what a report says with what was injected."""
import statistics

import cases
from measure import step_walls

TOLERANCE = 0.05


def rows(section):
    return section if isinstance(section, list) else []


def own_times(report):
    """Per rank (compute, own time) of a step in ns: the window without waiting for other ranks (docs/metrics.md)."""
    counted = max(1, len(step_walls(report)))
    return {row["rank"]: (row["compute_ns"] / counted,
                          (row["window_ns"] - (row["exposed_comm_ns"] or 0) - row["idle_causes"]["sync"]) / counted)
            for row in rows(report["ranks"])}


def expected_slowdown(case, clean_reports):
    """Of the slow rank against its peers' compute C and own time x in clean runs: 1 + (f - 1) C / x, or 1 + delay / x."""
    if not case.persistent or not clean_reports:
        return None
    values = []
    for report in clean_reports:
        peers = [times for rank, times in own_times(report).items() if rank != case.row[0]]
        compute, own = (statistics.median(column) for column in zip(*peers))
        added = (case.factor - 1) * compute if case.factor else case.delay_ms * 1e6
        values.append(1 + added / own)
    return statistics.median(values)


def judge(case, report, expected):
    """None when the report says what it must, else what it said instead."""
    if isinstance(report["stragglers"], dict):
        return "stragglers: " + report["stragglers"].get("unavailable", "?")
    found = [(row["rank"], row["kind"], row["persistence"]) for row in report["stragglers"]]
    if case.lost:
        lost = [(row.get("rank"), row.get("step")) for row in rows(report["findings"]) if row["id"] == "rank_lost"]
        if found:
            return f"stragglers: {found}"
        return None if lost == [case.lost] else f"rank_lost: {lost}"
    wanted = [case.row] if case.row else []
    if not found and case.ranks == 2 and expected is not None and expected < cases.OF_TWO_FROM:
        return None  # below what two ranks can tell
    if found != wanted:
        return f"stragglers: {found}"
    if not wanted:
        return None
    row = report["stragglers"][0]
    if case.ranks == 2 and row["certainty"] != "of_two":
        return f"certainty {row['certainty']}"
    if case.persistent and expected is None:
        return "no clean run to take the expected slowdown from"
    if expected is not None and abs(row["slowdown"] - expected) > TOLERANCE:
        return f"slowdown {row['slowdown']:.3f}, expected {expected:.3f}"
    return None


def prediction_error(measured, clean_reports):
    """Predicted median step against that of clean runs: a signed share; None where nothing is predicted."""
    if measured.predicted_ns is None or not clean_reports:
        return None
    truth = statistics.median(statistics.median(step_walls(report)) for report in clean_reports)
    return measured.predicted_ns / truth - 1
