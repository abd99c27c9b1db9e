"""Annotations that a program makes while `rankscope record` records it: steps, ranges, collectives, marks, counters.

    from rankscope import annotate
    for index, batch in enumerate(loader):
        with annotate.step(index):
            with annotate.range("forward", kind="forward"):
                loss = model(batch)

In a process that is not recorded, every call does next to nothing. For frameworks without NVTX; PyTorch programs need none of it.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import itertools
import operator
import os
import threading
from typing import Any, Iterator, Sequence, Union

from ._errors import UsageError

#: What a span is, for the split of time (docs/metrics.md, 0); as in collectors/include/rankscope/collectors/annotate.h.
KINDS = {"user": 0, "step": 1, "data": 2, "forward": 3, "backward": 4, "optimizer": 5, "op": 6, "wait": 7, "sync": 8, "loader": 9,
         "checkpoint": 10}
Value = Union[int, str]


class _Collective(ctypes.Structure):
    _fields_ = [("uid", ctypes.c_uint64), ("sequence", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("group", ctypes.c_char_p),
                ("op", ctypes.c_char_p), ("dtype", ctypes.c_char_p), ("members", ctypes.c_char_p), ("peer", ctypes.c_int32)]


def _function(*arguments: Any, result: Any = None) -> Any:
    # PYFUNCTYPE keeps Python's lock: the calls take tens of nanoseconds and never block.
    return ctypes.PYFUNCTYPE(result, *arguments)


class _Table(ctypes.Structure):
    """rankscope_api_v1 of annotate_table.h, as far as it is needed here."""

    _fields_ = [("version", ctypes.c_uint32), ("size", ctypes.c_uint32),
                ("push", _function(ctypes.c_uint8, ctypes.c_char_p, ctypes.c_uint32)), ("pop", _function()),
                ("mark", _function(ctypes.c_char_p, ctypes.c_uint32)), ("attribute_int", _function(ctypes.c_char_p, ctypes.c_int64)),
                ("attribute_text", _function(ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint32)),
                ("counter", _function(ctypes.c_char_p, ctypes.c_double)),
                ("collective_enqueued", _function(ctypes.POINTER(_Collective))), ("collective_started", _function(ctypes.c_uint64)),
                ("collective_finished", _function(ctypes.c_uint64)), ("name_thread", _function(ctypes.c_char_p)),
                ("metadata", _function(ctypes.c_char_p, ctypes.c_char_p)), ("is_recording", _function(result=ctypes.c_int))]


def _find() -> Any:
    """The recorder's table, or None where this process is not recorded."""
    entry = getattr(ctypes.CDLL(None), "rankscope_api", None)
    named = os.environ.get("RANKSCOPE_INJECT_LIB")
    if entry is None and named and os.environ.get("RANKSCOPE_SEGMENTS"):
        entry = getattr(ctypes.CDLL(named), "rankscope_api", None)
    if entry is None:
        return None
    entry.restype = ctypes.POINTER(_Table)
    table = entry()
    return table.contents if table and table.contents.version >= 1 else None


_MOST_RANK = (1 << 24) - 1
_LONGEST_TEXT = 1 << 20
_unknown = object()
_found: Any = _unknown
_uids = itertools.count(1 << 40)  # apart from those of other users of the recorder
_sequences: dict[str, Iterator[int]] = collections.defaultdict(itertools.count)
_counting = threading.Lock()


def _table() -> Any:
    global _found
    if _found is _unknown:
        _found = _find()
    return _found


def recording() -> bool:
    """True while this process is recorded and the window of the recording is open."""
    table = _table()
    return table is not None and table.is_recording() != 0


def _whole(name: str, value: Any, least: int = -(1 << 63), most: int = (1 << 63) - 1) -> int:
    """A whole number of Python or NumPy; ctypes would cut one that is too large."""
    try:
        number = operator.index(value)
    except TypeError:
        raise UsageError(f"{name} must be a whole number (is {value!r})") from None
    if not least <= number <= most:
        raise UsageError(f"{name} must be from {least} to {most} (is {str(number)[:40]})")
    return number


def _bytes(name: str, text: Any) -> bytes:
    """UTF-8; without NUL, with which a text of C ends, and without halves of pairs."""
    encoded = str(text).encode("utf-8", "replace")
    if b"\0" in encoded or len(encoded) > _LONGEST_TEXT:
        raise UsageError(f"{name} must have no NUL and at most {_LONGEST_TEXT} bytes (is {encoded[:40]!r}, {len(encoded)} bytes)")
    return encoded


def _attribute(table: Any, key: str, value: Value) -> None:
    if hasattr(value, "__index__"):
        table.attribute_int(_bytes("the name of an attribute", key), _whole(key, value))
    else:
        text = _bytes(key, value)
        table.attribute_text(_bytes("the name of an attribute", key), text, len(text))


@contextlib.contextmanager
def range(name: str, kind: str = "user", **attributes: Value) -> Iterator[None]:
    """A span of the calling thread. `kind` is one of KINDS: it says to which part of the time the span belongs."""
    if kind not in KINDS:
        raise UsageError(f"there is no kind {kind!r}; choose from: {', '.join(KINDS)}")
    table = _table()
    if table is None:
        yield
        return
    text = _bytes("name", name)
    table.push(KINDS[kind], text, len(text))
    try:
        for key, value in attributes.items():
            _attribute(table, key, value)
        yield
    finally:
        table.pop()


def step(index: int) -> contextlib.AbstractContextManager[None]:
    """One training step; indices count up, and are equal on all ranks."""
    return range("step", kind="step", index=_whole("index", index, 0))


@contextlib.contextmanager
def collective(op: str, *, group: str, members: Sequence[int], bytes: int, dtype: str = "u8", sequence: int | None = None,
               peer: int = -1) -> Iterator[None]:
    """A blocking collective, send or receive of this rank, from its call to its return.

    `op` is allreduce, allgather, reduce_scatter, broadcast, alltoall, send, recv, barrier or another name. `group` names the
    communicator, with the same name on all ranks; `members` are its global ranks in group order. `bytes` is the payload of this rank:
    number of elements times their size. `sequence` is the number of this operation in the group, from 0; without it, operations are
    counted, so all members must call the operations of a group in the same order. `peer` is the root, or the partner of a send or
    receive.
    """
    table = _table()
    if table is None:
        yield
        return
    listed = ",".join(str(_whole("members", member, 0, _MOST_RANK)) for member in members)
    described = _Collective(0, 0, _whole("bytes", bytes, 0), _bytes("group", group), _bytes("op", op), _bytes("dtype", dtype),
                            _bytes("members", listed), _whole("peer", peer, -1, _MOST_RANK))
    given = None if sequence is None else _whole("sequence", sequence, 0)
    with _counting:
        described.uid = uid = next(_uids)
        described.sequence = next(_sequences[group]) if given is None else given
    table.collective_enqueued(ctypes.byref(described))
    table.collective_started(uid)
    try:
        yield
    finally:
        table.collective_finished(uid)


def mark(name: str) -> None:
    """A point in time on the calling thread."""
    table = _table()
    if table is not None:
        text = _bytes("name", name)
        table.mark(text, len(text))


def counter(name: str, value: float) -> None:
    """The value of a quantity at this time; the name ends in the unit, such as "queue_bytes"."""
    table = _table()
    if table is not None:
        table.counter(_bytes("name", name), float(value))


def metadata(key: str, value: str) -> None:
    """A fact about this process, such as "parallel" = "ddp" or "stage" = "2"."""
    table = _table()
    if table is not None:
        table.metadata(_bytes("key", key), _bytes(key, value))
