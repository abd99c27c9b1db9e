"""Long calls: they run on a thread of their own, so that Ctrl-C reaches Python, and show how far they are."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any, Callable, TypeVar

_SHOW_AFTER_S = 0.5
_LOOK_EVERY_S = 0.05
_Result = TypeVar("_Result")


def _bar(what: str) -> Any:
    """A bar of tqdm, on a terminal or in a notebook; None if tqdm is not installed or the output is not shown."""
    in_notebook = "ipykernel" in sys.modules
    if not what or not (in_notebook or sys.stderr.isatty()):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm(total=100, desc=what, unit="%", leave=False)


def watch(work: Callable[[], _Result], what: str, task: Any = None) -> _Result:
    """Runs `work`; returns what it returns and raises what it raises.

    `task` has `done` (0 to 1) and `stop`; with it, Ctrl-C stops the work before KeyboardInterrupt is raised. Without it, the
    work goes on in the background until it ends, and its result is dropped.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()  # signals reach only the main thread
    returned: list[_Result] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            returned.append(work())
        except BaseException as problem:  # handed over to the caller
            raised.append(problem)
    thread = threading.Thread(target=run, name="rankscope", daemon=True)
    began = time.monotonic()
    bar: Any = None  # False: there is none
    try:
        try:
            thread.start()  # Ctrl-C may come while it starts
        except RuntimeError:
            if thread.ident is not None:
                raise
            return work()  # none can be started, as when the interpreter ends
        while True:
            thread.join(_LOOK_EVERY_S)
            if not thread.is_alive():
                break
            if task is not None and bar is None and time.monotonic() - began > _SHOW_AFTER_S:
                bar = _bar(what) or False
            if bar:
                bar.update(int(task.done * 100) - bar.n)
    except BaseException:  # Ctrl-C, or what a handler of another signal raises
        if task is not None:
            task.stop = 1
            while thread.is_alive():
                thread.join(_LOOK_EVERY_S)
        raise
    finally:
        if bar:
            bar.close()
    if raised:
        raise raised[0]
    return returned[0]
