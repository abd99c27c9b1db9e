"""Recording started from inside a program."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Iterator

from . import annotate
from ._errors import Error, UsageError
from ._library import find_file


_STARTED = "RANKSCOPE_RECORD_STARTED"  # set for the program that is started again, which must not do so once more


def _command() -> list[str]:
    """How this program was started, as its interpreter saw it."""
    words = getattr(sys, "orig_argv", [])
    if len(words) < 2 or hasattr(sys, "ps1") or "ipykernel" in sys.modules or sys.argv[:1] in ([""], ["-c"], ["-"]):
        raise UsageError("record() restarts the program, so the program must be a script: not a notebook, python -c or an "
                         "interactive session. Run: rankscope record --out RUN -- COMMAND")
    return [sys.executable, *words[1:]]


@contextlib.contextmanager
def record(out: str | os.PathLike[str], *options: str) -> Iterator[bool]:
    """Records the program that calls it, as `rankscope record --out OUT [options] -- COMMAND` does (docs/recording.md).

    The recorder starts the program again from its beginning, so call record() early in the script, before anything that must not
    be done twice. In the recorded program, the block is a range named "recorded". Yields True while events are recorded. A
    process of torchrun, srun or mpirun is refused with UsageError: there, put `rankscope record` before the launcher, so that all ranks
    become one recording. With the option "--or-run", a program that cannot be recorded runs unrecorded, and False is yielded.
    """
    if os.environ.get("RANKSCOPE_SEGMENTS"):
        os.environ.pop(_STARTED, None)
        with annotate.range("recorded"):
            yield annotate.recording()
        return
    if any(os.environ.get(name, "1") != "1" for name in ("WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE")):
        raise UsageError(f"this is one process of several: put the recorder before the launcher, as in rankscope record --out {os.fspath(out)} "
                         "-- torchrun ...")
    if os.environ.pop(_STARTED, None) is not None:  # under the recorder, which does not record
        if "--or-run" not in options:
            raise Error("the recorder restarted this program but does not record it: something between the recorder and the program removes "
                        "RANKSCOPE_SEGMENTS from the environment; run: rankscope record --out RUN -- COMMAND")
        yield False
        return
    program = str(find_file("rankscope", "RANKSCOPE_PROGRAM"))
    words = [program, "record", "--out", os.fspath(out), *options, "--", *_command()]
    sys.stdout.flush()
    sys.stderr.flush()
    os.execve(program, words, {**os.environ, _STARTED: "1"})
    yield False  # not reached: execv does not return
