"""For torch.profiler: puts the traces of all ranks where rankscope finds them, and prints the report at the end.

    with torch.profiler.profile(schedule=torch.profiler.schedule(wait=2, warmup=2, active=6),
                                on_trace_ready=rankscope.torch.trace_handler("traces")) as profiler:
        for batch in loader:
            train(batch)
            profiler.step()

torch is not imported here: only programs that have it use this module.
"""

from __future__ import annotations

import atexit
import builtins
import gzip
import json
import os
import pathlib
import re
import shutil
import socket
import sys
import tempfile
import time
from typing import Any, Literal, TextIO

from ._errors import CannotTellError, Error, UsageError
from ._run import Run, open


def _distributed() -> Any:
    """torch.distributed of a job whose process group is there; else None."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return distributed
    return None


#: Variables of launchers: the rank, and the number of ranks.
_LAUNCHERS = (("RANK", "WORLD_SIZE"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("PMI_RANK", "PMI_SIZE"),
              ("SLURM_PROCID", "SLURM_STEP_NUM_TASKS"))


def _number(name: str) -> int | None:
    text = os.environ.get(name, "")
    return int(text) if re.fullmatch("[0-9]{1,8}", text) else None


def _launched() -> tuple[int, int]:
    for rank_name, size_name in _LAUNCHERS:
        rank, size = _number(rank_name), _number(size_name)
        if rank is not None and size is not None and rank < size:
            return rank, size
    return 0, 1


def _is_failing() -> bool:
    """True if the program ends by an exception that nobody caught."""
    return getattr(sys, "last_exc", None) is not None or getattr(sys, "last_value", None) is not None


def _compress(trace: str, target: str) -> None:
    """Adds the name of the host, which torch.profiler does not write: ranks of one host have one clock."""
    with builtins.open(trace, "rb") as plain, gzip.open(target, "wb", compresslevel=6) as out:
        head = plain.read(4096)
        begin = re.match(rb'\s*\{(?=\s*")', head)
        if begin and b'"host_name"' not in head:
            out.write(begin[0] + b'"host_name": ' + json.dumps(socket.gethostname()).encode() + b",")
            head = head[begin.end():]
        out.write(head)
        shutil.copyfileobj(plain, out, 1 << 20)


class TraceHandler:
    """What trace_handler() returns: a callable for `on_trace_ready`."""

    def __init__(self, folder: str | os.PathLike[str], report: Literal["exit", "never"], html: bool, wait_s: float, out: TextIO | None):
        restart = _number("TORCHELASTIC_RESTART_COUNT") or 0  # torchrun starts all ranks again when one fails
        self.folder = pathlib.Path(folder, f"restart_{restart}") if restart else pathlib.Path(folder)
        self._html, self._wait_s, self._out = html, wait_s, out
        self._windows = 0
        self._report_at_exit = report == "exit"
        self._registered = False

    def ranks(self) -> tuple[int, int]:
        """This rank and the world size: from torch.distributed, or from the variables of torchrun, MPI or Slurm; otherwise 0 and 1."""
        distributed = _distributed()
        if distributed is not None:
            return int(distributed.get_rank()), int(distributed.get_world_size())
        return _launched()

    def _window(self, number: int) -> pathlib.Path:
        return self.folder / f"window_{number}"

    def _file(self, window: int, rank: int) -> pathlib.Path:
        return self._window(window) / f"rank_{rank}.json.gz"

    def __call__(self, profiler: Any) -> None:
        """Writes the trace of this rank; it appears under its name only when it is complete."""
        rank, world = self.ranks()
        self._windows += 1
        target = self._file(self._windows, rank)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".rank_{rank}.", suffix=".json.gz", dir=target.parent)
        os.close(handle)
        plain = name.removesuffix(".gz")
        try:
            profiler.export_chrome_trace(plain)
            _compress(plain, name)
            if target.exists():
                raise UsageError(f"{target} exists: another handler, or another process that runs as rank {rank}, has written it; "
                                 "use one handler, start the ranks with torchrun, mpirun or srun, or call init_process_group first")
            os.chmod(name, 0o644)
            os.replace(name, target)
        finally:
            for path in (plain, name):
                pathlib.Path(path).unlink(missing_ok=True)
        if rank == 0 and self._report_at_exit and not self._registered:
            self._registered = True
            self._last_ranks = (rank, world)
            atexit.register(self._report)

    def _missing(self, window: int, world: int) -> list[int]:
        return [rank for rank in range(world) if not self._file(window, rank).exists()]

    def run(self, window: int | None = None) -> Run:
        """The run of one window of the profiler, by default the last one. Raises CannotTellError if traces of ranks are missing."""
        number = self._windows if window is None else window
        if not 1 <= number <= self._windows:
            raise UsageError(f"window {number} was not written; number of windows written so far: {self._windows}")
        _, world = self.ranks() if _distributed() is not None else getattr(self, "_last_ranks", self.ranks())
        until = time.monotonic() + self._wait_s
        while (missing := self._missing(number, world)) and time.monotonic() < until:
            time.sleep(0.1)
        if missing:
            raise CannotTellError(f"{self._window(number)}: after {self._wait_s:g} s there is no trace of rank{'s' if len(missing) > 1 else ''} "
                                  f"{', '.join(map(str, missing[:10]))}; run `rankscope report {self._window(number)}` when all traces are there, and "
                                  "make sure that all ranks write to one shared folder")
        return open(*(self._file(number, rank) for rank in range(world)))

    def _report(self) -> None:
        out = self._out or sys.stderr
        if _is_failing():
            self._wait_s = 0  # the other ranks may hang or be gone, and the launcher waits for this one
        try:
            with self.run() as run:
                print(run.text(), file=out)
                if self._html:
                    page = self.folder / "report.html"
                    run.html(page)
                    print(f"rankscope: the whole report is in {page}", file=out)
        except Exception as problem:  # noqa: BLE001 - the program ends; nobody else says what went wrong
            reason = str(problem) if isinstance(problem, Error) else f"no report could be made: {type(problem).__name__}: {problem}"
            print(f"rankscope: {reason}", file=out)


def trace_handler(folder: str | os.PathLike[str], *, report: Literal["exit", "never"] = "exit", html: bool = True, wait_s: float = 60.0,
                  out: TextIO | None = None) -> TraceHandler:
    """For `torch.profiler.profile(on_trace_ready=...)` on every rank, with the same folder, which all ranks share.

    The n-th window of the profiler is written to `folder`/window_n/rank_R.json.gz; `rankscope report folder/window_1` reads it. With
    report="exit", rank 0 prints the report (to `out`, by default stderr) when its program ends, and writes `folder`/report.html if
    `html` is true; it waits at most `wait_s` seconds for the traces of the other ranks, and says which are missing. With "never", or
    before the program ends, `handler.run()` returns the run, as rankscope.open() does.

    Raises UsageError if the folder already contains windows, so that traces of two jobs are never mixed. When torchrun starts the
    job again after a failure, the n-th restart writes to `folder`/restart_n. If rank 0 ends with an exception, it does not wait.
    """
    if report not in ("exit", "never"):
        raise UsageError(f'report must be "exit" or "never" (is {report!r})')
    handler = TraceHandler(folder, report, html, wait_s, out)
    rank, _ = handler.ranks()
    if handler._file(1, rank).exists():
        raise UsageError(f"{handler._file(1, rank)} exists: give every job a folder of its own")
    return handler
