"""`rankscope mcp`: the questions of a report for assistants, by the Model Context Protocol over stdin and stdout (docs/agents.md).

The protocol (https://modelcontextprotocol.io, JSON-RPC 2.0, one message per line) is small enough that no other package is needed.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any, TextIO

from ._errors import Error
from ._mcp_tools import TOOLS, Session
from ._version import __version__

PROTOCOLS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_LONGEST_REQUEST = 1 << 20
_INSTRUCTIONS = ("Call open first, then verdict. Every answer names its numbers and how certain they are. \"cannot_tell\" is an answer: it never "
                 "means that there is no problem; it says what to record. Times are in nanoseconds unless the name says otherwise.")


class _BadRequest(Exception):
    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


def _answer(session: Session, method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        wanted = params.get("protocolVersion")
        return {"protocolVersion": wanted if wanted in PROTOCOLS else PROTOCOLS[0], "capabilities": {"tools": {}},
                "serverInfo": {"name": "rankscope", "version": __version__}, "instructions": _INSTRUCTIONS}
    if method == "ping":
        return {}
    if method == "tools/list":
        return {"tools": [{"name": tool.name, "description": tool.description, "inputSchema": tool.schema,
                           "annotations": {"readOnlyHint": True}} for tool in TOOLS]}
    if method == "tools/call":
        return _call(session, params)
    raise _BadRequest(-32601, f"there is no method {str(method)[:100]}")


def _call(session: Session, params: dict[str, Any]) -> dict[str, Any]:
    tool = next((tool for tool in TOOLS if tool.name == params.get("name")), None)
    if tool is None:
        raise _BadRequest(-32602, f"there is no tool {str(params.get('name'))[:100]}; there are: {', '.join(tool.name for tool in TOOLS)}")
    try:
        answer = tool.run(session, params.get("arguments") or {})
    except Error as problem:
        return {"content": [{"type": "text", "text": f"refused: {problem}"}], "isError": True}
    return {"content": [{"type": "text", "text": answer}], "isError": False}


def _reply(session: Session, line: str) -> dict[str, Any] | None:
    """The answer to one line; None: it wants none."""
    identity: Any = None
    try:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            raise _BadRequest(-32700, "the line is not JSON") from None
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            if isinstance(message, dict) and ("result" in message or "error" in message):
                return None
            raise _BadRequest(-32600, "the line is no JSON-RPC request")
        if "id" not in message:
            return None
        identity = message["id"]
        params = message.get("params")
        if params is not None and not isinstance(params, dict):
            raise _BadRequest(-32602, "params must be an object")
        return {"jsonrpc": "2.0", "id": identity, "result": _answer(session, message["method"], params or {})}
    except _BadRequest as problem:
        return {"jsonrpc": "2.0", "id": identity, "error": {"code": problem.code, "message": str(problem)}}


def serve(session: Session, lines: TextIO, out: TextIO) -> None:
    """Answers until the input ends."""
    while line := lines.readline(_LONGEST_REQUEST):
        if not line.endswith("\n") and len(line) >= _LONGEST_REQUEST:
            while (rest := lines.readline(_LONGEST_REQUEST)) and not rest.endswith("\n"):
                pass
            reply: dict[str, Any] | None = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "the request is longer than 1 MiB"}}
        elif not line.strip():
            continue
        else:
            reply = _reply(session, line)
        if reply is not None:
            out.write(json.dumps(reply, ensure_ascii=False) + "\n")
            out.flush()


def main(words: list[str] | None = None) -> int:
    """Runs the server; the exit status."""
    parser = argparse.ArgumentParser(prog="rankscope mcp", description="Answers questions of assistants about runs, by the Model Context "
                                     "Protocol over stdin and stdout.")
    parser.add_argument("--root", default=".", metavar="FOLDER", help="only runs in this folder can be opened (default: the current one)")
    options = parser.parse_args(words)
    root = pathlib.Path(options.root)
    if not root.is_dir():
        print(f"rankscope: --root {root} is not a folder", file=sys.stderr)
        return 3
    sys.stdin.reconfigure(encoding="utf-8", errors="replace")  # type: ignore[union-attr]
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    try:
        serve(Session(root.resolve()), sys.stdin, sys.stdout)
    except (BrokenPipeError, KeyboardInterrupt):
        return 0
    return 0
