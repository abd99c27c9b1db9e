"""A run that was read: tables, report, comparison, prediction."""

from __future__ import annotations

import json
import operator
import os
import pathlib
import re
from typing import Any, Iterable, Literal, Sequence, Union, overload

from . import _notebook
from ._answer import Answer
from ._errors import CannotTellError, CannotWriteError, UsageError
from ._findings import Finding, SlowRank, Verdict, records
from ._library import Handle, Task, call, call_for_handle, call_for_text, request, task_pointer
from ._parquet import write_parquet
from ._table import Table

Path = Union[str, "os.PathLike[str]"]
Steps = Union[int, str, Sequence[Union[int, None]], range, None]
Ranks = Union[int, Iterable[int], None]


def open(*paths: Path, rank_map: dict[str, int] | str | None = None, keep_texts: bool = False) -> Run:
    """Reads a recording, or traces of other profilers: anything that `rankscope report` reads.

    A path is a .rankscope folder or pack, Kineto JSON (torch.profiler), a .sqlite export of Nsight Systems, or a folder of these.
    `rank_map` gives the ranks of trace files that do not state theirs: {"a.json": 0, "b.json": 1}. Passwords and tokens in
    strings are hidden unless `keep_texts` is true. Raises UnreadableError if nothing can be read, UsageError for a wrong argument.

    >>> run = rankscope.open("samples/demo.rankscope")
    >>> run
    <rankscope.Run demo.rankscope: 4 ranks, source rankscope>
    """
    if isinstance(rank_map, dict):
        rank_map = ",".join(f"{name}={rank}" for name, rank in rank_map.items())
    names = [_path_text(path) for path in paths]
    task = Task()
    wanted = request(paths=names, rank_map=rank_map, keep_texts=keep_texts)
    what = f"reading {names[0]}" if names else ""
    handle = call_for_handle("rankscope_open", wanted, task_pointer(task), close="rankscope_close", what=what, task=task)
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return Run(handle, os.path.basename(os.path.abspath(names[0])) + more, names)


def _whole(name: str, value: Any) -> int:
    """A whole number of Python or NumPy."""
    try:
        return operator.index(value)
    except TypeError:
        raise UsageError(f"{name} must be whole numbers (is {value!r})") from None


def _is_whole(value: Any) -> bool:
    """Arrays of NumPy have __index__, too."""
    try:
        operator.index(value)
    except TypeError:
        return False
    return True


def _path_text(path: Path) -> str:
    """The path as the C interface takes it."""
    text = os.fsdecode(path)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"the name of {text!r} is not UTF-8, so the Python package cannot read it; rename the file, or use the command line") from None
    return text


def _steps(steps: Steps) -> list[int | None] | None:
    """[first, last], both included; a last of None means "to the end"."""
    if steps is None:
        return None
    if isinstance(steps, bool):
        raise UsageError("steps must be a number, a pair (first, last), a range or a string such as '5:15'")
    if _is_whole(steps):
        return [_whole("steps", steps)] * 2
    if isinstance(steps, range):
        if steps.step != 1 or len(steps) == 0:
            raise UsageError(f"steps: the range must have a step of 1 and at least one number (is {steps})")
        return [steps.start, steps[-1]]
    if isinstance(steps, str):
        found = re.fullmatch(r"([0-9]{0,18}):([0-9]{0,18})|([0-9]{1,18})", steps)
        if not found or steps == ":":
            raise UsageError(f'steps must be A:B, A: or :B with whole numbers, as in 5:15 (is "{steps[:100]}")')
        if found[3]:
            return [int(found[3]), int(found[3])]
        return [int(found[1] or 0), int(found[2]) if found[2] else None]
    try:
        pair = list(steps)  # type: ignore[arg-type]  # a number was returned above
    except TypeError:
        raise UsageError(f"steps must be a number, a pair (first, last), a range or a string such as '5:15' (is {steps!r})") from None
    if len(pair) != 2:
        raise UsageError(f"steps must be a pair: the first and the last step, both included (has {len(pair)} entries)")
    return [0 if pair[0] is None else _whole("steps", pair[0]), None if pair[1] is None else _whole("steps", pair[1])]


def _ranks(ranks: Ranks) -> list[int] | None:
    if ranks is None:
        return None
    try:
        chosen = [_whole("ranks", rank) for rank in ([ranks] if _is_whole(ranks) else ranks)]  # type: ignore[union-attr]
    except TypeError:
        raise UsageError(f"ranks must be a whole number or several (is {ranks!r})") from None
    if not chosen:
        raise UsageError("ranks is empty; leave it out for all ranks")
    return chosen


def ranks_from(text: str | None) -> list[int] | None:
    """Ranks as the command line writes them: "0,2,4-7"."""
    if text is None:
        return None
    chosen: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"(\d{1,8})(?:-(\d{1,8}))?", part)
        if not found or int(found[2] or found[1]) - int(found[1]) not in range(1 << 20):
            raise UsageError(f'ranks must be numbers and ranges, such as 0,2,4-7 (is "{text}")')
        chosen += range(int(found[1]), int(found[2] or found[1]) + 1)
    return chosen


class Run:
    """One run. Made by rankscope.open() and rankscope.from_table()."""

    def __init__(self, handle: Handle, name: str, paths: Sequence[Path] = ()):
        self.name = name  #: the last part of its path
        self._paths = [pathlib.Path(path).resolve() for path in paths]
        self._handle = handle

    def close(self) -> None:
        """Frees the memory of the run. Tables that were read stay valid; every other call then raises UsageError.

        A call that was interrupted may continue in the background; the memory is then freed when the call ends.
        """
        self._handle.close()

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_not_read(self, out: Path) -> None:
        """UsageError if writing there would replace what the run was read from."""
        target = pathlib.Path(out).resolve()
        for source in self._paths:
            if target.exists() and (target == source or source in target.parents):
                raise UsageError(f"{os.fspath(out)} is the input or part of it; choose another name for the output")
        call("rankscope_check_output", os.fsencode(out))

    def _open_handle(self) -> Handle:
        if self._handle.closed:
            raise UsageError(f"the run {self.name} was closed")
        return self._handle

    def table(self, name: str, steps: Steps = None, ranks: Ranks = None, columns: Iterable[str] | None = None,
              first: int | None = None) -> Table:
        """A table of the run as Arrow; rankscope.tables() lists the tables and their columns, docs/sqlite.md explains them.

        `steps` is a step, a pair (first, last), a range or a string such as "5:15"; rows that overlap these steps of their rank
        are kept. `ranks` is a rank or several. `columns` chooses columns and their order. `first` is the largest number of rows to read,
        from the beginning of the table. Raises UsageError for names, steps or ranks that do not exist, and CannotTellError, with the
        reason, if the run lacks the data for the table.

        >>> run.table("rank_steps", ranks=2, columns=["step", "duration_ns"]).to_pydict()["step"][:3]
        [0, 1, 2]
        """
        names = None if columns is None else list(columns)
        if names == []:
            raise UsageError("columns is empty; leave it out for all columns")
        wanted = request(table=name, steps=_steps(steps), ranks=_ranks(ranks), columns=names, first=first)
        return Table(name, call_for_handle("rankscope_read_table", self._open_handle(), wanted, close="rankscope_table_close",
                                           what=f"reading table {name}"))

    def _report(self, form: str, **options: Any) -> str:
        wanted = request(form=form, name=self.name, **options)
        return call_for_text("rankscope_report", self._open_handle(), wanted, what="analyzing")

    def report(self, *, steps: Steps = None, ranks: Ranks = None, include_warm_up: bool = False, instances: bool = False,
               hta: Literal["dropped", "kept"] | None = None, peak_tflops: float | None = None) -> dict[str, Any]:
        """The report as `rankscope report --json` writes it (schema rankscope.report/1, docs/report.md).

        `instances` lists every matched collective. `hta` adds the numbers that Holistic Trace Analysis computes, with the last step
        dropped (as HTA does) or kept. `peak_tflops` is the peak speed of one device in TFLOP/s. A section that cannot be computed
        is {"unavailable": "why"}.
        """
        text = self._report("json", steps=_steps(steps), ranks=_ranks(ranks), include_warm_up=include_warm_up, instances=instances,
                            hta=hta, peak_tflops=peak_tflops)
        answer: dict[str, Any] = json.loads(text)
        return answer

    def text(self, full: bool = False) -> str:
        """The report as the command line prints it: one screen, or all sections."""
        return self._report("text", full=full)

    def verdict(self) -> Verdict:
        """Which rank is slow, why, how much time a fix would save, and which questions cannot be answered.

        >>> print(run.verdict().sentences[0])
        Rank 2 is slow: it computes more slowly than its peers.
        """
        found = json.loads(self._report("verdict"))
        return Verdict(tuple(found["sentences"]), tuple(found["doubts"]), found["computed"])

    def findings(self) -> list[Finding]:
        """The problems that were found, the worst first. Raises CannotTellError if the run cannot be judged."""
        rows = self.table("findings").to_pydict()
        rows["id"] = rows.pop("finding")
        return records(Finding, rows)

    def slow_ranks(self) -> list[SlowRank]:
        """The slow ranks, the worst first; an empty list means that none was found.

        Raises CannotTellError if ranks cannot be compared.
        """
        rows = self.table("stragglers").to_pydict()
        return records(SlowRank, rows)

    def whatif(self, *fixes: str, steps: Steps = None, include_warm_up: bool = False) -> Answer:
        """Predicts how long steps would be after changes, such as "rank:2" or "network" (docs/whatif.md lists them).

        The answer has schema rankscope.whatif/1; its str() is the text that the command line prints. Raises CannotTellError
        if nothing can be predicted.
        """
        for fix in fixes:
            if not isinstance(fix, str):
                raise UsageError(f"whatif: changes are strings such as 'rank:2', but {fix!r} was given")
        options = {"fixes": list(fixes), "steps": _steps(steps), "include_warm_up": include_warm_up}
        found = json.loads(call_for_text("rankscope_what_if", self._open_handle(), request(form="both", **options), what="predicting"))
        return Answer(found["answer"], found["text"])

    def compare(self, other: Run, *, steps: Steps = None, ranks: Ranks = None, accept_losses: bool = False,
                allow_different: bool = False) -> Answer:
        """Whether `other` is slower than this run, and where (schema rankscope.compare/1, docs/compare.md).

        The str() of the answer is the text that the command line prints. The verdict is answer["step_time"]["verdict"]: unchanged,
        slower, faster or cannot_tell. Among other reasons, it is cannot_tell if data, ranks or steps of a run are missing (unless
        `accept_losses` is true), or if the runs are of different jobs: if world size, batch or dtype differ (unless `allow_different`
        is true).
        """
        options = {"label_a": self.name, "label_b": other.name, "steps": _steps(steps), "ranks": _ranks(ranks),
                   "accept_losses": accept_losses, "allow_different": allow_different}
        handles = self._open_handle(), other._open_handle()
        found = json.loads(call_for_text("rankscope_compare", *handles, request(form="both", **options), what="comparing"))
        return Answer(found["answer"], found["text"])

    @overload
    def html(self) -> str: ...

    @overload
    def html(self, path: Path) -> None: ...

    def html(self, path: Path | None = None) -> str | None:
        """The report as one HTML page that needs no other file and no network.

        If `path` is given, the page is written there, and nothing is returned.
        """
        if path is not None:
            self._check_not_read(path)
        page = self._report("html")
        if path is None:
            return page
        try:
            pathlib.Path(path).write_text(page, encoding="utf-8")
        except OSError as problem:
            raise CannotWriteError(f"cannot write {os.fspath(path)}: {problem.strerror}") from None
        return None

    def export(self, to: str, out: Path) -> None:
        """Writes the run for another tool: perfetto, chrome, tensorboard, kineto or sqlite, as `rankscope export` does."""
        self._check_not_read(out)
        task = Task()
        call("rankscope_export", self._open_handle(), request(to=to, out=_path_text(out)), task_pointer(task),
             what=f"writing {os.fspath(out)}", task=task)

    def to_parquet(self, out: Path, *, steps: Steps = None, ranks: Ranks = None, tables: Iterable[str] | None = None) -> list[str]:
        """Writes the tables as Parquet files (zstd) into the folder `out`, one per table, and returns their names.

        Needs pyarrow (`pip install 'rankscope[parquet]'`). A table that cannot be computed from the run is left out, and the table
        "missing" has the reason; if `tables` includes such a table, CannotTellError is raised. A folder that an earlier export made is replaced.
        """
        self._check_not_read(out)
        return write_parquet(self, out, steps, ranks, tables)

    @property
    def ranks(self) -> list[int]:
        """The ranks that were recorded, ascending."""
        found = self.table("processes", columns=["rank"]).to_pydict()["rank"]
        return sorted({rank for rank in found if rank is not None})

    @property
    def source(self) -> str:
        """What recorded the run: rankscope, kineto, nsys or table."""
        return str(self.table("run", columns=["source"]).to_pydict()["source"][0])

    def __repr__(self) -> str:
        if self._handle.closed:
            return f"<rankscope.Run {self.name}: closed>"
        count = len(self.ranks)
        return f"<rankscope.Run {self.name}: {count} rank{'' if count == 1 else 's'}, source {self.source}>"

    def _repr_html_(self) -> str:
        try:
            rows = self.table("ranks").to_pydict()
        except CannotTellError as problem:
            rows = {"why": [str(problem)]}
        return _notebook.page(self.name, self.verdict(), rows)
