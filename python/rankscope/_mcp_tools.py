"""The tools of `rankscope mcp`: at most six, read-only, with short answers."""

from __future__ import annotations

import dataclasses
import itertools
import json
import pathlib
from typing import Any, Callable

from ._errors import CannotTellError, Error, UsageError
from ._run import Run, open
from ._table import tables

MOST_ROWS = 200
MOST_CHARACTERS = 7000  # about 2,000 tokens
_MOST_OPEN = 8
_MOST_ENTRIES = 100_000


@dataclasses.dataclass(frozen=True)
class Tool:
    """What an assistant can call."""

    name: str
    description: str
    schema: dict[str, Any]
    run: Callable[[Session, dict[str, Any]], dict[str, Any]]


class Session:
    """The runs that were opened, below one folder."""

    def __init__(self, root: pathlib.Path):
        self.root = root
        self._runs: dict[str, Run] = {}
        self._numbers = itertools.count(1)

    def inside(self, path: str) -> pathlib.Path:
        """The path, links followed; UsageError if it is not below the root."""
        if "\0" in path:
            raise UsageError("the path contains a NUL character")
        try:
            return self._inside(path)
        except (OSError, RuntimeError, ValueError) as problem:
            if isinstance(problem, UsageError):
                raise
            raise UsageError(f"{path[:200]!r} cannot be read: {problem}") from None

    def _inside(self, path: str) -> pathlib.Path:
        resolved = (self.root / path).resolve()
        if resolved != self.root and self.root not in resolved.parents:
            raise UsageError(f"{path} is outside of the folder that this server may read ({self.root}); start the server with another --root FOLDER")
        if resolved.exists() and not (resolved.is_file() or resolved.is_dir()):
            raise UsageError(f"{path} is neither a file nor a folder")
        if resolved.is_dir():
            for number, inner in enumerate(resolved.rglob("*")):
                if number >= _MOST_ENTRIES:
                    raise UsageError(f"{path} contains more than {_MOST_ENTRIES} files, too many to check for links; open one of its subfolders")
                if inner.is_symlink() and self.root not in inner.resolve().parents:
                    raise UsageError(f"{path} contains a link to a place outside of the folder that this server may read")
        return resolved

    def open(self, paths: list[str]) -> str:
        found = [self.inside(path) for path in paths]
        name = f"run{next(self._numbers)}"
        self._runs[name] = open(*found)
        while len(self._runs) > _MOST_OPEN:
            self._runs.pop(next(iter(self._runs))).close()
        return name

    def get(self, name: str) -> Run:
        if name not in self._runs:
            known = ", ".join(self._runs) or "none"
            raise UsageError(f"no run {name[:100]!r} is open (open runs: {known}); call open first")
        self._runs[name] = self._runs.pop(name)  # the one that was used longest ago is closed first
        return self._runs[name]


def _member(arguments: dict[str, Any], name: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
    value = arguments.get(name, default)
    if value is None and default is None and name not in arguments:
        raise UsageError(f"{name} is missing")
    if not isinstance(value, kind) or isinstance(value, bool) and kind is not bool:
        raise UsageError(f"{name} has the wrong type")
    return value


def _checked(arguments: dict[str, Any], *known: str) -> dict[str, Any]:
    for name in arguments:
        if name not in known:
            raise UsageError(f"{str(name)[:100]!r} is not an argument; the arguments are: {', '.join(known)}")
    return arguments


def _text(answer: Any) -> str:
    return json.dumps(answer, ensure_ascii=False)


def cannot_tell(problem: Error) -> dict[str, Any]:
    return {"answer": "cannot_tell", "why": str(problem), "note": "there may still be a problem"}


def refusal(problem: Error) -> str:
    """What an error says, not longer than an answer."""
    text = f"refused: {problem}"
    return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS - 3] + "..."


def _shorter(value: Any) -> Any:
    """A part of the value; the value itself if it cannot be cut."""
    if isinstance(value, str):
        return value[:len(value) * 3 // 4] + "..." if len(value) > 8 else value
    if isinstance(value, list):
        return value[:len(value) * 3 // 4] if len(value) > 1 else [_shorter(one) for one in value]
    if isinstance(value, dict) and value:
        longest = max(value, key=lambda name: len(_text(value[name])))
        return {**value, longest: _shorter(value[longest])}
    return value


def fitted(answer: dict[str, Any]) -> str:
    """The answer as JSON; its longest member is cut until it is short enough, and it says so."""
    text = _text(answer)
    while len(text) > MOST_CHARACTERS:
        shorter = {**_shorter({name: value for name, value in answer.items() if name != "left_out"}),
                   "left_out": "the answer was too long: choose fewer columns, ranks or steps"}
        if shorter == answer:
            return _text({"answer": "too_long", "left_out": "the answer was too long: choose fewer columns, ranks or steps"})
        answer = shorter
        text = _text(answer)
    return text


def _ms(ns: int | float | None) -> float | None:
    return None if ns is None else round(ns / 1e6, 3)


def _open(session: Session, arguments: dict[str, Any]) -> dict[str, Any]:
    path = _checked(arguments, "path").get("path")
    paths = [path] if isinstance(path, str) else path
    if not isinstance(paths, list) or not paths or not all(isinstance(one, str) and one for one in paths):
        raise UsageError("path must be a string, or a list of strings")
    name = session.open(paths)
    run = session.get(name)
    about = run.report()["run"]
    return {"run": name, "name": run.name, **{key: about.get(key) for key in ("source", "ranks", "world_size", "steps", "duration_ns", "clock")},
            "next": "call verdict"}


def _verdict(session: Session, arguments: dict[str, Any]) -> dict[str, Any]:
    run = session.get(_member(_checked(arguments, "run"), "run", str))
    verdict = run.verdict()
    answer: dict[str, Any] = {"answer": "verdict" if verdict.computed else "cannot_tell", "sentences": list(verdict.sentences),
                              "doubts": list(verdict.doubts)}
    try:
        answer["slow_ranks"] = [{"rank": slow.rank, "kind": slow.kind, "slowdown": round(slow.slowdown, 3), "certainty": slow.certainty,
                                 "gain_ms_per_step": _ms(slow.gain_ns_per_step)} for slow in run.slow_ranks()[:10]]
    except CannotTellError as problem:
        answer["slow_ranks"] = {"answer": "cannot_tell", "why": str(problem)}
    return answer


def _findings(session: Session, arguments: dict[str, Any]) -> dict[str, Any]:
    _checked(arguments, "run", "most")
    run = session.get(_member(arguments, "run", str))
    most = _limited(arguments, 10)
    found = run.findings()
    shown = [{"id": one.id, "severity": one.severity, "rank": one.rank, "step": one.step, "title": one.title, "evidence": one.evidence,
              "advice": one.advice, "gain_ms_per_step": _ms(one.gain_ns_per_step), "certainty": one.certainty} for one in found[:most]]
    return {"answer": "findings", "count": len(found), "findings": shown, "doubts": list(run.verdict().doubts)}


def _limited(arguments: dict[str, Any], default: int) -> int:
    most = _member(arguments, "most", int, default)
    if not 1 <= most <= MOST_ROWS:
        raise UsageError(f"most must be from 1 to {MOST_ROWS} (is {most}); choose ranks, steps or columns to see other rows")
    return int(most)


def _table(session: Session, arguments: dict[str, Any]) -> dict[str, Any]:
    _checked(arguments, "run", "table", "columns", "ranks", "steps", "most")
    run = session.get(_member(arguments, "run", str))
    name = _member(arguments, "table", str)
    if name not in tables():
        raise UsageError(f"{name[:100]!r} is not a table; the tables are: {', '.join(tables())}. SQL queries are not possible")
    most = _limited(arguments, 20)
    choice: dict[str, Any] = {key: arguments.get(key) for key in ("columns", "ranks", "steps")}
    for key in ("columns", "ranks"):
        kind = str if key == "columns" else int
        if choice[key] is not None and not (isinstance(choice[key], list) and all(isinstance(one, kind) and not isinstance(one, bool) for one in choice[key])):
            raise UsageError(f"{key} must be a list of {'strings' if kind is str else 'whole numbers'}")
    if choice["steps"] is not None and not isinstance(choice["steps"], str):
        raise UsageError('steps must be a string such as "5:15"')
    table = run.table(name, first=most + 1, **choice)
    head = table.head(most)
    more = {"more_rows": True} if len(table) > most else {}
    return {"answer": "table", "table": name, "rows": min(len(table), most), **more, "columns": list(head),
            "values": [list(row) for row in zip(*head.values())]}


def _compare(session: Session, arguments: dict[str, Any]) -> dict[str, Any]:
    _checked(arguments, "run", "with")
    one, other = (session.get(_member(arguments, key, str)) for key in ("run", "with"))
    answer = one.compare(other)
    steps = answer["step_time"]
    kind = "cannot_tell" if steps.get("verdict") == "cannot_tell" else "comparison"
    return {"answer": kind, "step_time": steps, "text": str(answer)[:MOST_CHARACTERS // 2]}


def _what_if(session: Session, arguments: dict[str, Any]) -> dict[str, Any]:
    _checked(arguments, "run", "fixes")
    run = session.get(_member(arguments, "run", str))
    fixes = _member(arguments, "fixes", list)
    if not fixes or len(fixes) > 10 or not all(isinstance(fix, str) and len(fix) <= 200 for fix in fixes):
        raise UsageError('fixes must be a list of 1 to 10 changes such as "rank:2"')
    answer = run.whatif(*fixes)
    return {"answer": "prediction", "replay_error": answer["replay_error"], "doubts": answer.get("doubts", []),
            "text": str(answer)[:MOST_CHARACTERS // 2]}


def _schema(required: list[str], **properties: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


_RUN = {"type": "string", "description": "name that open returned, such as run1"}
_MOST = {"type": "integer", "minimum": 1, "maximum": MOST_ROWS}

TOOLS = (
    Tool("open", "Open a training run: a .rankscope recording, a folder of PyTorch profiler traces (Kineto JSON), or Nsight .sqlite exports. "
         "Returns the name that the other tools take as run.",
         _schema(["path"], path={"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
                                 "description": "path in the folder that the server may read"}), _open),
    Tool("verdict", "Which rank is slow, why, how much time a fix would save, and which questions cannot be answered.", _schema(["run"], run=_RUN), _verdict),
    Tool("findings", "The problems that were found, with evidence, advice and the time that a fix would save.",
         _schema(["run"], run=_RUN, most=_MOST), _findings),
    Tool("table", "Some rows of a table of the run, such as ranks, rank_step_times, kernels, operators, collectives, spans.",
         _schema(["run", "table"], run=_RUN, table={"type": "string"}, columns={"type": "array", "items": {"type": "string"}},
                 ranks={"type": "array", "items": {"type": "integer"}}, steps={"type": "string", "description": "A:B, both included"}, most=_MOST),
         _table),
    Tool("compare", "Whether the second run is slower than the first, and where.",
         {"type": "object", "properties": {"run": _RUN, "with": _RUN}, "required": ["run", "with"], "additionalProperties": False}, _compare),
    Tool("what_if", "Predict the step time after changes: rank:R (as fast as its peers), op:GLOB*F (matching calls take F times as long), network, data, "
         "balance, ...",
         _schema(["run", "fixes"], run=_RUN, fixes={"type": "array", "items": {"type": "string"}}), _what_if),
)
