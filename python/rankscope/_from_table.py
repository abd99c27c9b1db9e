"""Runs from any table of events."""

from __future__ import annotations

import json
import math
import operator
from typing import Any, Iterable, Literal, Mapping, Sequence

from . import annotate
from ._columns import Columns
from ._errors import UsageError
from ._library import Task, call_for_handle, task_pointer
from ._run import Run

_UNITS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}
_KINDS = {*annotate.KINDS, "comm", "compute", "memory", "runtime", "overhead", "api", "python"} - {"step"}
#: Columns that are understood; docs/from-table.md explains them.
COLUMNS = ("rank", "name", "start", "duration", "end", "kind", "step", "lane", "stream", "op", "group", "sequence", "bytes", "dtype",
           "peer", "micro_batch", "stage", "chunk", "host")
_ATTRIBUTES = ("micro_batch", "stage", "chunk")
_LEAST_BUSY = 1e-3
_MOST_UNEQUAL = 50.0
_MOST_RANK = (1 << 24) - 1
_MOST_NS = 1 << 62


def _word(text: str) -> str:
    return json.dumps(str(text))


class _Event:
    """One row, in nanoseconds."""

    __slots__ = ("row", "rank", "name", "begin", "end", "kind", "step", "lane")

    def __init__(self, row: int, rank: int, name: str, begin: int, end: int, kind: str, step: int | None, lane: str):
        self.row, self.rank, self.name, self.begin, self.end = row, rank, name, begin, end
        self.kind, self.step, self.lane = kind, step, lane


def _given(name: str, value: Any, least: int, most: int) -> int:
    """An argument that is a whole number, of Python or NumPy."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UsageError(f"{name} must be a whole number (is {value!r})") from None
    if not least <= number <= most:
        raise UsageError(f"{name} must be from {least} to {most} (is {str(number)[:40]})")
    return number


def _lane(columns: Columns, row: int, kind: str, blocking: bool) -> str:
    lane = columns.text("lane", row)
    if lane is not None:
        return lane
    stream = columns.whole("stream", row)
    if stream is not None:
        return f"stream {stream}"
    return "comm" if kind == "comm" and not blocking else "loader" if kind == "loader" else "main"


def _kind(columns: Columns, row: int) -> str:
    kind = columns.text("kind", row)
    if kind is None:
        return "comm" if columns.text("op", row) is not None else "compute" if columns.whole("stream", row) is not None else "op"
    if kind not in _KINDS:
        raise UsageError(f"row {row}: kind {kind!r} is unknown; choose from: {', '.join(sorted(_KINDS))}")
    return kind


def _times(columns: Columns, row: int, unit: int) -> tuple[int, int]:
    start = columns.number("start", row)
    duration, end = columns.number("duration", row), columns.number("end", row)
    if start is None or (duration is None and end is None):
        raise UsageError(f"row {row}: start and either duration or end must be given")
    for name, value in (("start", start), ("duration", duration), ("end", end)):
        if value is not None and not (math.isfinite(value) and abs(value) * unit < 2**62):
            raise UsageError(f"row {row}: {name} is {value}, which is not finite or is too large for a time")
    if duration is None:
        assert end is not None
        duration = end - start
    elif end is not None and abs(start + duration - end) > 1e-3 * max(abs(end), abs(duration)):
        raise UsageError(f"row {row}: start + duration is {start + duration:g}, but end is {end:g}; all three must be in the same unit")
    if duration < 0:
        raise UsageError(f"row {row}: the duration is negative ({duration:g})")
    begin = round(start * unit)
    return begin, begin + round(duration * unit)


def _events(columns: Columns, unit: int, blocking: bool) -> list[_Event]:
    found = []
    for row in range(columns.rows):
        rank, name = columns.whole("rank", row), columns.text("name", row)
        if rank is None or name is None:
            raise UsageError(f"row {row}: {'rank' if rank is None else 'name'} is missing")
        begin, end = _times(columns, row, unit)
        kind = _kind(columns, row)
        found.append(_Event(row, rank, name, begin, end, kind, columns.whole("step", row), _lane(columns, row, kind, blocking)))
    return found


def _lay_steps_out(events: list[_Event]) -> dict[int, tuple[int, int]]:
    """Times that count from the beginning of their step become times of the run: one step follows the other, and they are numbered
    so (a series of steps with gaps would be several series). Returns when each of them is."""
    ends: dict[int, int] = {}
    for event in events:
        if event.step is None:
            raise UsageError(f"row {event.row}: step is missing; start_of=\"step\" needs the step of every row")
        if event.begin < 0:
            raise UsageError(f"row {event.row}: start is negative; with start_of=\"step\", it counts from the beginning of the step")
        ends[event.step] = max(ends.get(event.step, 0), event.end)
    number, windows, begin = {}, {}, 0
    for place, step in enumerate(sorted(ends)):
        number[step] = place
        windows[place] = (begin, begin + ends[step])
        begin += ends[step]
    for event in events:
        assert event.step is not None
        event.step = number[event.step]
        event.begin += windows[event.step][0]
        event.end += windows[event.step][0]
    return windows


def _mend_overlaps(events: list[_Event], most: int) -> int:
    """Spans of one lane follow or enclose each other; returns how many ends were moved."""
    lanes: dict[tuple[int, str], list[_Event]] = {}
    for event in events:
        lanes.setdefault((event.rank, event.lane), []).append(event)
    moved = 0
    for (rank, lane), spans in lanes.items():
        spans.sort(key=lambda event: (event.begin, -event.end))
        open_spans: list[_Event] = []
        for span in spans:
            while open_spans and open_spans[-1].end <= span.begin:
                open_spans.pop()
            while open_spans and open_spans[-1].end < span.end:
                over = open_spans[-1].end - span.begin
                if over > most:
                    raise UsageError(
                        f"rows {open_spans[-1].row} and {span.row}: {open_spans[-1].name!r} and {span.name!r} overlap by {over} ns on rank {rank}, "
                        f"lane {lane!r}, and neither encloses the other, which is impossible on one thread; give them different values of the "
                        "column lane (or stream), check time_unit, or raise overlap_ns")
                open_spans.pop().end = span.begin
                moved += 1
            open_spans.append(span)
    return moved


def _extent_and_union(events: Iterable[_Event]) -> tuple[int, int]:
    """From the first begin to the last end, and how much of that is in at least one event."""
    first = reached = covered = None
    for event in sorted(events, key=lambda event: event.begin):
        if first is None:
            first, reached, covered = event.begin, event.begin, 0
        assert reached is not None and covered is not None
        covered += max(0, event.end - max(event.begin, reached))
        reached = max(reached, event.end)
    return (0, 0) if first is None or reached is None or covered is None else (reached - first, covered)


def _check_units(events: list[_Event], sparse: bool, of_steps: bool) -> None:
    """Durations in another unit than starts, or ranks in different units, would become a wrong report. Looks at the times as they are
    in the table; `of_steps`: those of each step are apart."""
    parts: dict[tuple[int, int | None], list[_Event]] = {}
    for event in events:
        parts.setdefault((event.rank, event.step if of_steps else None), []).append(event)
    lengths: dict[int, int] = {}
    unions: dict[int, int] = {}
    for (rank, _), own in parts.items():
        length, union = _extent_and_union(own)
        lengths[rank] = lengths.get(rank, 0) + length
        unions[rank] = unions.get(rank, 0) + union
    longest, shortest = max(lengths, key=lengths.__getitem__), min(lengths, key=lengths.__getitem__)
    if lengths[longest] > _MOST_UNEQUAL * max(lengths[shortest], 1) and not sparse:
        raise UsageError(f"the times of rank {longest} span {lengths[longest] / 1e9:g} s, but those of rank {shortest} span {lengths[shortest] / 1e9:g} s: all "
                         "ranks must use one unit and one clock (if the times are right, give sparse=True)")
    for rank, length in lengths.items():
        if unions[rank] < _LEAST_BUSY * length and not sparse:
            raise UsageError(f"the events of rank {rank} fill only {100 * unions[rank] / length:.2g} % of the time from the first to the last of them: "
                             "start and duration must be in the same unit (if the times are right, give sparse=True)")


def _check_duplicates(columns: Columns, events: list[_Event]) -> None:
    """One row twice, as after joining tables that overlap, would be counted twice."""
    seen: dict[tuple[Any, ...], int] = {}
    operations: dict[tuple[Any, ...], int] = {}
    for event in events:
        if event.end > event.begin:
            same = event.rank, event.lane, event.name, event.kind, event.step, event.begin, event.end, columns.value("micro_batch", event.row)
            if (before := seen.setdefault(same, event.row)) != event.row:
                raise UsageError(f"rows {before} and {event.row} are the same event: {event.name!r} of rank {event.rank}, with the same times; "
                                 "remove one of them")
        sequence, group = columns.whole("sequence", event.row), columns.text("group", event.row)
        if event.kind == "comm" and sequence is not None and group is not None:
            operation = event.rank, group, sequence, columns.text("op", event.row), columns.whole("peer", event.row)
            if (before := operations.setdefault(operation, event.row)) != event.row:
                raise UsageError(f"rows {before} and {event.row} are the same operation: sequence {sequence} of group {group!r} on rank {event.rank}; "
                                 "each operation of a group must have its own sequence number")


def _groups(columns: Columns, events: list[_Event], given: Mapping[str, Sequence[int]] | None) -> dict[str, list[int]]:
    """Members of each communicator: as given, else the ranks that use it."""
    members = {str(name): [_given(f"groups[{name!r}]", rank, 0, _MOST_RANK) for rank in ranks] for name, ranks in (given or {}).items()}
    for name, listed in members.items():
        if len(set(listed)) < len(listed):
            raise UsageError(f"groups[{name!r}] has a rank twice: {listed}")
    seen: dict[str, set[int]] = {}
    for event in events:
        group = columns.text("group", event.row) if event.kind == "comm" else None
        if group is None:
            continue
        if group in members and event.rank not in members[group]:
            raise UsageError(f"row {event.row}: rank {event.rank} is not a member of group {group!r} ({members[group]})")
        seen.setdefault(group, set()).add(event.rank)
    return {**{group: sorted(ranks) for group, ranks in seen.items()}, **members}


class _Writer:
    """The text form of the run (core/model/text.h)."""

    def __init__(self, columns: Columns, attributes: Iterable[str]):
        self._columns = columns
        self._attributes = tuple(attributes)
        self.lines: list[str] = []

    def _described(self, row: int) -> str:
        text = ""
        for name in (*_ATTRIBUTES, *self._attributes):
            value = self._columns.value(name, row)
            if value is not None:
                text += f" {_word(name)}={int(value)}" if isinstance(value, int) else f" {_word(name)}={_word(value)}"
        return text

    def _comm(self, event: _Event) -> str:
        columns, row = self._columns, event.row
        group = columns.text("group", row)
        words = f" group={'-' if group is None else _word(group)} op={_word(columns.text('op', row) or event.name)}"
        for column, word in (("sequence", "seq"), ("bytes", "bytes"), ("peer", "peer")):
            value = columns.whole(column, row)
            if value is not None:
                words += f" {word}={value}"
        dtype = columns.text("dtype", row)
        return words + (f" dtype={_word(dtype)}" if dtype else "")

    def event(self, event: _Event) -> None:
        words = self._comm(event) if event.kind == "comm" else ""
        self.lines.append(f"{event.rank} {event.kind} {event.begin} {event.end} {_word(event.name)} lane={_word(event.lane)}{words}"
                          f"{self._described(event.row)}")

    def steps(self, windows: Mapping[int, Mapping[int, tuple[int, int]]], lanes: Mapping[int, str]) -> None:
        for rank, own in windows.items():
            for step, (begin, end) in own.items():
                self.lines.append(f"{rank} step {begin} {end} step lane={_word(lanes[rank])} index={step}")


def _step_windows(events: list[_Event], laid_out: Mapping[int, tuple[int, int]] | None) -> dict[int, dict[int, tuple[int, int]]]:
    """Of each rank: as they were laid out, or from the begin of the first event of a step to that of the next step."""
    begins: dict[int, dict[int, int]] = {}
    ends: dict[int, int] = {}
    for event in events:
        if event.step is not None:
            own = begins.setdefault(event.rank, {})
            own[event.step] = min(own.get(event.step, event.begin), event.begin)
            ends[event.rank] = max(ends.get(event.rank, event.end), event.end)
    if laid_out is not None:
        return {rank: {step: laid_out[step] for step in sorted(own)} for rank, own in begins.items()}
    windows: dict[int, dict[int, tuple[int, int]]] = {}
    for rank, own in begins.items():
        order = sorted(own)
        if [own[step] for step in order] != sorted(own.values()):
            raise UsageError(f"rank {rank}: a step begins before a step with a lower number; step numbers must increase with time (or give start_of=\"step\")")
        following = [*(own[step] for step in order[1:]), ends[rank]]
        windows[rank] = {step: (own[step], end) for step, end in zip(order, following)}
    return windows


def _step_lanes(events: list[_Event], windows: Mapping[int, Mapping[int, tuple[int, int]]]) -> dict[int, str]:
    """Of each rank the lane "main" if its steps enclose what is on it, else a lane of their own."""
    lanes = {rank: "main" for rank in windows}
    for event in events:
        if event.lane == "main" and event.rank in windows and lanes[event.rank] == "main":
            own = windows[event.rank].values() if event.step is None else [windows[event.rank][event.step]]
            if any(begin < event.end and event.begin < end and not (begin <= event.begin and event.end <= end) for begin, end in own):
                lanes[event.rank] = "steps"
    return lanes


def from_table(table: Any, *, time_unit: Literal["s", "ms", "us", "ns"], columns: Mapping[str, str] | None = None,
               start_of: Literal["run", "step"] = "run", groups: Mapping[str, Sequence[int]] | None = None, blocking: bool = False,
               equal_stages: bool = False, attributes: Iterable[str] = (), world_size: int | None = None, clock_error_ns: int | None = 0, overlap_ns: int = 20_000,
               sparse: bool = False, name: str = "table") -> Run:
    """Makes a run from a table with one row per event, as any framework's own timers write it; docs/from-table.md has an example.

    `table` is a pandas, polars, pyarrow or DuckDB table, or a mapping of column names to sequences. It needs the columns rank, name,
    start, and duration or end; it may have kind, step, lane, stream, op, group, sequence, bytes, dtype, peer, micro_batch, stage, chunk
    and host. `columns` maps these names to those of the table: {"start": "start_ts"}.

    `time_unit` is the unit of start, duration and end. With `start_of="step"`, start counts from the beginning of the row's step, which
    all ranks begin at the same time; the steps then follow one another without gaps and are numbered from 0, in the order of their numbers
    in the table. `groups` lists the members of each group; without it, the members of a group are the ranks that use it.
    `blocking`: communication runs on the thread that computes, and computation waits for it. `equal_stages`: pipeline stages should do
    equal work, so ranks of all stages are compared with each other; otherwise only ranks of the same stage are. `attributes` are further
    columns to keep with each span. `clock_error_ns` is the largest error of the clock that all ranks share (None: the ranks share no
    clock). If two events of one lane overlap by at most `overlap_ns`, this is taken for an error of the clock, and the earlier event is
    shortened. `sparse` accepts tables whose times look as if units were mixed.

    Raises UsageError, with the rows if they are known, for anything that is missing or impossible.
    """
    if time_unit not in _UNITS:
        raise UsageError(f"time_unit must be one of {', '.join(_UNITS)} (is {time_unit!r})")
    if start_of not in ("run", "step"):
        raise UsageError(f'start_of must be "run" or "step" (is {start_of!r})')
    attributes = tuple(attributes)
    for attribute in attributes:
        if attribute in COLUMNS or attributes.count(attribute) > 1:
            raise UsageError(f"attributes: the column {attribute!r} is kept already; leave it out")
    read = Columns(table, columns or {}, COLUMNS, attributes)
    events = _events(read, _UNITS[time_unit], blocking)
    if not events:
        raise UsageError("the table has no rows")
    _check_units(events, sparse, start_of == "step")
    _check_duplicates(read, events)
    laid_out = _lay_steps_out(events) if start_of == "step" else None
    moved = _mend_overlaps(events, _given("overlap_ns", overlap_ns, 0, _MOST_NS))
    windows = _step_windows(events, laid_out)
    step_lanes = _step_lanes(events, windows)
    writer = _Writer(read, attributes)
    clock = "clock=none" if clock_error_ns is None else f"clock=table clock_error={_given('clock_error_ns', clock_error_ns, 0, _MOST_NS)}"
    ranks = sorted({event.rank for event in events})
    writer.lines.append(f"@run source=table world_size={len(ranks) if world_size is None else _given('world_size', world_size, 1, _MOST_RANK + 1)} {clock}")
    writer.lines += _processes(read, events, ranks, "pipeline_stage" if equal_stages else "stage", step_lanes)
    writer.lines += [f"@group {_word(group)} {','.join(map(str, members))}" for group, members in _groups(read, events, groups).items()]
    writer.lines += [f"@quality events_repaired {moved}"] if moved else []
    writer.steps(windows, step_lanes)
    for event in sorted(events, key=lambda event: (event.begin, -event.end, event.row)):
        writer.event(event)
    text = "\n".join(writer.lines).encode() + b"\n"
    task = Task()
    handle = call_for_handle("rankscope_open_text", text, len(text), task_pointer(task), close="rankscope_close",
                             what="reading the table", task=task)
    return Run(handle, name)


def _processes(columns: Columns, events: list[_Event], ranks: list[int], stage_key: str,
               step_lanes: Mapping[int, str]) -> list[str]:
    """One line per rank, and one per lane; a fact that is the same in all its rows is one of the rank."""
    facts: dict[int, dict[str, set[Any]]] = {rank: {"host": set(), "stage": set()} for rank in ranks}
    lanes: dict[tuple[int, str], str] = {}
    for event in events:
        for fact, values in facts[event.rank].items():
            value = columns.value(fact, event.row)
            if value is not None:
                values.add(value)
        kind = "stream" if columns.whole("stream", event.row) is not None else "comm" if event.lane == "comm" else "thread"
        if lanes.setdefault((event.rank, event.lane), kind) != kind:
            raise UsageError(f"row {event.row}: lane {event.lane!r} of rank {event.rank} is a stream in some rows and a thread in others")
    for rank, lane in step_lanes.items():
        lanes.setdefault((rank, lane), "thread")
    lines = []
    for rank in ranks:
        host, stage = facts[rank]["host"], facts[rank]["stage"]
        if len(host) > 1:
            raise UsageError(f"rank {rank} has several hosts: {', '.join(sorted(map(str, host)))}")
        words = f" host={_word(next(iter(host)))}" if host else ""
        words += f" meta.{stage_key}={_word(next(iter(stage)))}" if len(stage) == 1 else ""
        lines.append(f"@rank {rank}{words}")
        lines += [f"@lane {rank} {_word(lane)} kind={kind} number={number}" + (" device=0" if kind == "stream" else "")
                  for number, ((owner, lane), kind) in enumerate(lanes.items()) if owner == rank]
    return lines
