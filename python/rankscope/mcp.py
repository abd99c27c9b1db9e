"""`rankscope mcp`: answers assistants' questions about runs, through the Model Context Protocol over stdin and stdout (docs/agents.md).

The protocol (https://modelcontextprotocol.io, JSON-RPC 2.0, one message per line) is small enough that no other package is needed.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any, TextIO

from ._errors import CannotTellError, Error
from ._mcp_tools import TOOLS, Session, cannot_tell, fitted, refusal
from ._version import __version__

PROTOCOLS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
_LONGEST_REQUEST = 1 << 20
_MOST_IN_A_BATCH = 50
_INSTRUCTIONS = ("Call open first, then verdict. Every answer gives numbers and says how certain they are. \"cannot_tell\" is an answer: it "
                 "says what to record, and it is never the same as \"no problem found\". Times are in nanoseconds unless the name says otherwise.")


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
        raise _BadRequest(-32602, f"{str(params.get('name'))[:100]!r} is not a tool; the tools are: {', '.join(tool.name for tool in TOOLS)}")
    arguments = params.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        raise _BadRequest(-32602, "arguments must be an object")
    try:
        answer = tool.run(session, arguments or {})
    except CannotTellError as problem:
        answer = cannot_tell(problem)
    except Error as problem:
        return {"content": [{"type": "text", "text": refusal(problem)}], "isError": True}
    return {"content": [{"type": "text", "text": fitted(answer)}], "isError": False}


def _error(identity: Any, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": message[:1000]}}


def _replies(session: Session, line: str) -> Any:
    """The answer to one line: an object, a list for a batch (protocol 2025-03-26), or None if it wants none."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, -32700, "the line is not JSON")
    if not isinstance(message, list) or not message:
        return _reply(session, message)
    if len(message) > _MOST_IN_A_BATCH:
        return _error(None, -32600, f"a batch may have at most {_MOST_IN_A_BATCH} requests")
    return [reply for reply in (_reply(session, one) for one in message) if reply is not None] or None


def _reply(session: Session, message: Any) -> dict[str, Any] | None:
    """The answer to one message; None: it wants none."""
    identity: Any = None
    try:
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            if isinstance(message, dict) and ("result" in message or "error" in message):
                return None
            raise _BadRequest(-32600, "the line is not a JSON-RPC request")
        if "id" not in message:
            return None
        if not isinstance(message["id"], (str, int, float, type(None))):
            raise _BadRequest(-32600, "id must be a string or a number")
        identity = message["id"]
        params = message.get("params")
        if params is not None and not isinstance(params, dict):
            raise _BadRequest(-32602, "params must be an object")
        return {"jsonrpc": "2.0", "id": identity, "result": _answer(session, message["method"], params or {})}
    except _BadRequest as problem:
        return _error(identity, problem.code, str(problem))
    except Exception as problem:  # noqa: BLE001 - the next request may be a good one
        return _error(identity, -32603, f"internal error: {type(problem).__name__}: {problem}")


def serve(session: Session, lines: TextIO, out: TextIO) -> None:
    """Answers until the input ends."""
    while line := lines.readline(_LONGEST_REQUEST):
        if not line.endswith("\n") and len(line) >= _LONGEST_REQUEST:
            while (rest := lines.readline(_LONGEST_REQUEST)) and not rest.endswith("\n"):
                pass
            reply: Any = _error(None, -32600, "the request is longer than 1 MiB")
        elif not line.strip():
            continue
        else:
            reply = _replies(session, line)
        if reply is not None:
            out.write(json.dumps(reply) + "\n")  # in ASCII: texts may hold what no encoding has, such as half of a pair
            out.flush()


def main(words: list[str] | None = None) -> int:
    """Runs the server; the exit status."""
    parser = argparse.ArgumentParser(prog="rankscope mcp", description="Answers assistants' questions about runs, through the Model Context "
                                     "Protocol over stdin and stdout.")
    parser.add_argument("--root", default=".", metavar="FOLDER", help="only runs in this folder can be opened (default: the current folder)")
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
