"""librankscope.so, the C interface (python/include/rankscope/python/rankscope.h), called by ctypes."""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import pathlib
import sys
import threading
from typing import Any, Sequence

from ._errors import Error, UsageError, error_for
from ._progress import watch

INTERFACE_VERSION = 1
_HERE = pathlib.Path(__file__).resolve().parent


class ArrowSchema(ctypes.Structure):
    """Arrow's C data interface."""


ArrowSchema._fields_ = [
    ("format", ctypes.c_char_p), ("name", ctypes.c_char_p), ("metadata", ctypes.c_char_p), ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("children", ctypes.POINTER(ctypes.POINTER(ArrowSchema))),
    ("dictionary", ctypes.POINTER(ArrowSchema)), ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowSchema))),
    ("private_data", ctypes.c_void_p)]


class ArrowArray(ctypes.Structure):
    """Arrow's C data interface."""


ArrowArray._fields_ = [
    ("length", ctypes.c_int64), ("null_count", ctypes.c_int64), ("offset", ctypes.c_int64), ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64), ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(ArrowArray))), ("dictionary", ctypes.POINTER(ArrowArray)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArray))), ("private_data", ctypes.c_void_p)]


class ArrowArrayStream(ctypes.Structure):
    """Arrow's C stream interface."""


ArrowArrayStream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowArrayStream), ctypes.POINTER(ArrowSchema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowArrayStream), ctypes.POINTER(ArrowArray))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(ArrowArrayStream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowArrayStream))),
    ("private_data", ctypes.c_void_p)]


class Task(ctypes.Structure):
    """How far work is, and whether it is to stop."""

    _fields_ = [("stop", ctypes.c_int32), ("done", ctypes.c_double)]


_text = ctypes.POINTER(ctypes.c_char)
_out_text = ctypes.POINTER(_text)
_out_handle = ctypes.POINTER(ctypes.c_void_p)
_task = ctypes.POINTER(Task)
_SIGNATURES: dict[str, tuple[Any, list[Any]]] = {
    "rankscope_interface_version": (ctypes.c_int32, []),
    "rankscope_version": (ctypes.c_char_p, []),
    "rankscope_free": (None, [_text]),
    "rankscope_open": (ctypes.c_int32, [ctypes.c_char_p, _task, _out_handle, _out_text]),
    "rankscope_open_text": (ctypes.c_int32, [ctypes.c_char_p, ctypes.c_int64, _task, _out_handle, _out_text]),
    "rankscope_close": (None, [ctypes.c_void_p]),
    "rankscope_report": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_char_p, _out_text, _out_text]),
    "rankscope_what_if": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_char_p, _out_text, _out_text]),
    "rankscope_compare": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p, _out_text, _out_text]),
    "rankscope_check_output": (ctypes.c_int32, [ctypes.c_char_p, _out_text]),
    "rankscope_export": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_char_p, _task, _out_text]),
    "rankscope_read_table": (ctypes.c_int32, [ctypes.c_void_p, ctypes.c_char_p, _out_handle, _out_text]),
    "rankscope_table_rows": (ctypes.c_int64, [ctypes.c_void_p]),
    "rankscope_table_stream": (ctypes.c_int32, [ctypes.c_void_p, ctypes.POINTER(ArrowArrayStream), _out_text]),
    "rankscope_table_close": (None, [ctypes.c_void_p]),
    "rankscope_tables": (_text, []),
}


def folders() -> list[pathlib.Path]:
    """Where the library and the programs may be: in the wheel, or in the build folders of a checkout."""
    found = [_HERE / "bin", _HERE / "lib"]
    checkout = _HERE.parents[1]
    if (checkout / "cmake/RankscopeModule.cmake").is_file():
        found += [checkout / "build" / preset / "bin" for preset in ("release", "dev")]
    return found


def find_file(name: str, variable: str) -> pathlib.Path:
    """A file of rankscope: the environment variable names it, or it is in one of folders()."""
    named = os.environ.get(variable)
    if named:
        if pathlib.Path(named).is_file():
            return pathlib.Path(named)
        raise Error(f"{variable} names {named}, which does not exist")
    for folder in folders():
        if (folder / name).is_file():
            return folder / name
    raise Error(f"{name} was not found in {', '.join(str(folder) for folder in folders())}; install the wheel again, build "
                f"rankscope (scripts/test), or set {variable}")


def _load() -> ctypes.CDLL:
    path = find_file("librankscope.so", "RANKSCOPE_LIBRARY")
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as problem:
        raise Error(f"{path} cannot be loaded: {problem}") from None
    for name, (result, arguments) in _SIGNATURES.items():
        function = getattr(loaded, name, None)
        if function is None:
            raise Error(f"{path} has no function {name}: it is from a different version of rankscope than this package")
        function.restype, function.argtypes = result, arguments
    if loaded.rankscope_interface_version() != INTERFACE_VERSION:
        raise Error(f"{path} has version {loaded.rankscope_interface_version()} of the C interface; this package needs version "
                    f"{INTERFACE_VERSION}")
    return loaded


_loaded: ctypes.CDLL | None = None
_loading = threading.Lock()


def library() -> ctypes.CDLL:
    """The loaded library; an Error says why it cannot be loaded."""
    global _loaded
    with _loading:
        if _loaded is None:
            _loaded = _load()
    return _loaded


def take_text(text: Any) -> str:
    """A text of the C interface as a string; it is freed."""
    if not text:
        return ""
    try:
        return ctypes.string_at(text).decode("utf-8", "replace")
    finally:
        library().rankscope_free(text)


def request(**members: Any) -> bytes:
    """A request of the C interface; members that are None are left out."""
    try:
        return json.dumps({name: value for name, value in members.items() if value is not None}, allow_nan=False).encode()
    except (TypeError, ValueError) as problem:
        wrong = [name for name, value in members.items() if isinstance(value, float) and not math.isfinite(value)]
        raise UsageError(f"{', '.join(wrong)} must be finite" if wrong else f"an argument has the wrong type: {problem}") from None


def _checked(status: int, message: Any) -> None:
    if status != 0:
        raise error_for(status, take_text(message) or "there is not enough memory")


class Handle:
    """A run or a table of the C interface.

    It is freed when it is closed and no call uses it any more: a call that was interrupted may go on in the background.
    """

    def __init__(self, pointer: ctypes.c_void_p, free: Any):
        self._pointer, self._free = pointer, free
        self._users = 0
        self._closed = self._freed = False
        self._lock = threading.Lock()

    def __enter__(self) -> ctypes.c_void_p:
        with self._lock:
            if self._closed:
                raise UsageError("the run was closed")
            self._users += 1
        return self._pointer

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users -= 1
        self._free_if_unused()

    def _free_if_unused(self) -> None:
        with self._lock:
            now = self._closed and not self._freed and self._users == 0
            self._freed = self._freed or now
        if now:
            self._free(self._pointer)

    @property
    def closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        self._closed = True
        self._free_if_unused()

    def __del__(self) -> None:
        if not sys.is_finalizing():  # a thread of ours may be in a call that was interrupted
            self.close()


def _call(name: str, arguments: Sequence[Any], *results: Any) -> None:
    """One call, on the thread that makes it; handles among the arguments are in use meanwhile."""
    message = _text()
    with contextlib.ExitStack() as used:
        values = [used.enter_context(value) if isinstance(value, Handle) else value for value in arguments]
        _checked(getattr(library(), name)(*values, *map(ctypes.byref, results), ctypes.byref(message)), message)


def call_for_text(name: str, *arguments: Any, what: str = "") -> str:
    """A call that answers with a text. It can be interrupted; the computation then goes on, and its text is freed when it ends."""
    def work() -> str:
        text = _text()
        _call(name, arguments, text)
        return take_text(text)
    return watch(work, what)


def call_for_handle(name: str, *arguments: Any, close: str, what: str = "", task: Task | None = None) -> Handle:
    """A call that makes a run or a table, which `close` frees."""
    def work() -> Handle:
        pointer = ctypes.c_void_p()
        _call(name, arguments, pointer)
        return Handle(pointer, getattr(library(), close))
    return watch(work, what, task)


def call(name: str, *arguments: Any, what: str = "", task: Task | None = None) -> None:
    """A call that answers with nothing."""
    watch(lambda: _call(name, arguments), what, task)


def new_stream(table: Handle) -> ArrowArrayStream:
    """A stream of a table, which its user releases."""
    stream = ArrowArrayStream()
    _call("rankscope_table_stream", (table, ctypes.byref(stream)))
    return stream


def task_pointer(task: Task | None) -> Any:
    return ctypes.byref(task) if task is not None else None
