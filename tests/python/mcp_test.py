"""`rankscope mcp` with the official client: the transcript of docs/agents.md, limits, and hostile requests."""
import asyncio
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest
import unittest.mock

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

import rankscope.mcp
from rankscope._mcp_tools import MOST_CHARACTERS, TOOLS, Session, fitted
import support
from support import ROOT

SAMPLES = ROOT / "samples"


def transcript():
    """[(tool, arguments, expected)] of docs/agents.md: what the answer holds, as JSON."""
    text = (ROOT / "docs/agents.md").read_text()
    return [(name, json.loads(arguments), json.loads(answer))
            for name, arguments, answer in re.findall(r"^> (\w+) (\{.*\})\n\n((?:    .*\n)+)", text, re.M)]


def holds(answer, expected):
    """Every member of `expected` is in `answer` with that value; dicts inside of them likewise."""
    if isinstance(expected, dict):
        return isinstance(answer, dict) and all(key in answer and holds(answer[key], value) for key, value in expected.items())
    if isinstance(expected, list):
        return isinstance(answer, list) and len(answer) >= len(expected) and all(map(holds, answer, expected))
    return answer == expected


async def talk(root, calls):
    server = StdioServerParameters(command=sys.executable, args=["-B", "-m", "rankscope", "mcp", "--root", str(root)],
                                   env={"PYTHONPATH": str(ROOT / "python"), **{name: value for name, value in __import__("os").environ.items()
                                                                             if name.startswith("RANKSCOPE_")}})
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        answers = [await session.call_tool(name, arguments) for name, arguments in calls]
    return tools, answers


def answer_to(session, *messages):
    """What the server writes for these lines."""
    out = io.StringIO()
    rankscope.mcp.serve(session, io.StringIO("".join(line + "\n" for line in messages)), out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def call(session, name, **arguments):
    (reply,) = answer_to(session, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": arguments}}))
    result = reply["result"]
    return result["isError"], result["content"][0]["text"]


class Mcp(unittest.TestCase):
    def test_the_transcript_is_replayed(self):
        steps = transcript()
        self.assertEqual({name for name, _, _ in steps}, {tool.name for tool in TOOLS})
        tools, answers = asyncio.run(talk(SAMPLES, [(name, arguments) for name, arguments, _ in steps]))
        self.assertLessEqual(len(tools), 6)
        for (name, _, expected), answer in zip(steps, answers):
            text = answer.content[0].text
            self.assertTrue(holds(json.loads(text), expected), f"{name}: {text}")
            self.assertLessEqual(len(text), MOST_CHARACTERS + 1000)

    def test_hostile_requests_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "link").symlink_to(SAMPLES / "demo.rankscope")
            (root / "inner").mkdir()
            (root / "inner/rank_0.json").symlink_to("/etc/passwd")
            session = Session(root)
            for path in (str(SAMPLES / "demo.rankscope"), "../../etc", "/etc/passwd", "link", "inner", "a\0b"):
                wrong, text = call(session, "open", path=path)
                self.assertTrue(wrong, path)
                self.assertNotIn("root:", text)
        session = Session(SAMPLES)
        self.assertFalse(call(session, "open", path="demo.rankscope")[0])
        for name, arguments, words in (
                ("table", {"run": "run1", "table": "spans", "most": 10**9}, "from 1 to 200"),
                ("table", {"run": "run1", "table": "spans; DROP TABLE spans"}, "SQL queries are not possible"),
                ("table", {"run": "run1", "table": "spans", "columns": ["name) --"]}, "has no column"),
                ("table", {"run": "run1", "table": "spans", "ranks": "all"}, "ranks must be a list"),
                ("table", {"run": "run1", "table": "spans", "steps": [1]}, "steps must be a string"),
                ("table", {"run": "run9", "table": "spans"}, "call open first"),
                ("table", {"run": "run1", "table": "spans", "sql": "SELECT 1"}, "'sql' is not an argument"),
                ("what_if", {"run": "run1", "fixes": ["rank:2"] * 1000}, "1 to 10 changes"),
                ("what_if", {"run": "run1", "fixes": ["$(reboot)"]}, "reboot"),
                ("open", {"path": 7}, "must be a string"),
                ("verdict", {}, "run is missing")):
            wrong, text = call(session, name, **arguments)
            self.assertTrue(wrong, name)
            self.assertIn(words, text)

    def test_lines_that_are_no_requests_are_answered_and_survived(self):
        replies = answer_to(Session(SAMPLES), "{", "[]", "7", json.dumps({"id": 1, "method": "nothing"}), "[" * 100_000, "x" * (3 << 20),
                            json.dumps({"id": 2, "method": "tools/call", "params": {"name": "rm"}}), json.dumps({"id": 3, "method": "tools/call", "params": []}),
                            json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}), json.dumps({"id": 4, "method": "ping"}))
        self.assertEqual([reply.get("error", {}).get("code") for reply in replies], [-32700, -32600, -32600, -32601, -32700, -32600, -32602, -32602, None])
        self.assertEqual(replies[-1]["result"], {})

    def test_a_defect_in_a_tool_is_an_answer_too(self):
        session = Session(SAMPLES)
        with unittest.mock.patch.object(session, "get", side_effect=ZeroDivisionError("x")):
            (broken, good) = answer_to(session, json.dumps({"id": 1, "method": "tools/call", "params": {"name": "verdict", "arguments": {"run": "a"}}}),
                                       json.dumps({"id": 2, "method": "ping"}))
        self.assertEqual(broken["error"]["code"], -32603)
        self.assertEqual(good["result"], {})

    def test_arguments_that_are_no_object_are_refused(self):
        for arguments in ([], [1], "run1", 0, False):
            (reply,) = answer_to(Session(SAMPLES), json.dumps({"id": 1, "method": "tools/call", "params": {"name": "verdict", "arguments": arguments}}))
            self.assertEqual(reply["error"]["code"], -32602)

    def test_texts_that_have_no_encoding_are_answered(self):
        session, out = Session(SAMPLES), io.BytesIO()
        lines = json.dumps({"id": "\ud800", "method": "tools/call", "params": {"name": "open", "arguments": {"path": "\ud800"}}}) + "\n"
        text = io.TextIOWrapper(out, encoding="utf-8", write_through=True)
        rankscope.mcp.serve(session, io.StringIO(lines), text)
        reply = json.loads(out.getvalue())
        self.assertTrue(reply["result"]["isError"])

    def test_paths_that_cannot_be_looked_at_are_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "loop").symlink_to(root / "loop")
            os.mkfifo(root / "pipe")
            session = Session(root)
            for path in ("loop", "pipe", "x" * 5000):
                self.assertTrue(call(session, "open", path=path)[0], path)

    def test_a_folder_with_too_many_files_is_refused(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch("rankscope._mcp_tools._MOST_ENTRIES", 3):
            root = pathlib.Path(folder).resolve()
            for number in range(4):
                (root / f"{number}.json").write_text("{}")
            wrong, text = call(Session(root), "open", path=".")
            self.assertTrue(wrong)
            self.assertIn("more than 3 files", text)

    def test_steps_of_many_digits_are_refused(self):
        session = Session(SAMPLES)
        call(session, "open", path="demo.rankscope")
        wrong, text = call(session, "table", run="run1", table="steps", steps="9" * 10_000)
        self.assertTrue(wrong)
        self.assertIn("steps must be", text)
        self.assertLessEqual(len(text), MOST_CHARACTERS)

    def test_every_answer_is_short(self):
        text = fitted({"answer": "x", "rows": [{"a": "y" * 50_000, "b": 1}], "doubts": ["z" * 300] * 100})
        self.assertLessEqual(len(text), MOST_CHARACTERS)
        self.assertIn("left_out", json.loads(text))
        self.assertLessEqual(len(fitted({"answer": list(range(10**5)), "numbers": {str(i): i for i in range(10**4)}})), MOST_CHARACTERS)

    def test_a_batch_is_answered_as_a_batch(self):
        (reply,) = answer_to(Session(SAMPLES), json.dumps([{"id": 1, "method": "ping"}, {"method": "notifications/initialized"}, {"id": 2, "method": "x"}]))
        self.assertEqual([one["id"] for one in reply], [1, 2])
        self.assertEqual(answer_to(Session(SAMPLES), json.dumps([{"method": "notifications/initialized"}])), [])
        (refused,) = answer_to(Session(SAMPLES), json.dumps([{"id": 1, "method": "ping"}] * 51))
        self.assertEqual(refused["error"]["code"], -32600)

    def test_a_table_reads_only_the_rows_it_shows(self):
        session = Session(SAMPLES)
        call(session, "open", path="demo.rankscope")
        asked = []
        table = session.get("run1").table
        with unittest.mock.patch.object(session.get("run1"), "table", lambda name, **options: asked.append(options["first"]) or table(name, **options)):
            _, text = call(session, "table", run="run1", table="steps", most=2)
        self.assertEqual(asked, [3])
        self.assertEqual((json.loads(text)["rows"], json.loads(text)["more_rows"]), (2, True))

    def test_the_run_that_was_used_longest_ago_is_closed(self):
        session = Session(SAMPLES)
        for _ in range(8):
            call(session, "open", path="demo.rankscope")
        session.get("run1")
        call(session, "open", path="demo.rankscope")
        session.get("run1")
        self.assertRaises(rankscope.UsageError, session.get, "run2")

    def test_cannot_tell_is_an_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder).resolve()
            (root / "run.txt").write_text("0 op 0 10 a\n")
            session = Session(root)
            call(session, "open", path="run.txt")
            wrong, text = call(session, "table", run="run1", table="steps")
            self.assertFalse(wrong, text)
            self.assertEqual(json.loads(text)["answer"], "cannot_tell")
            self.assertIn("steps", json.loads(text)["why"])

    def test_long_answers_are_cut_and_say_so(self):
        session = Session(SAMPLES)
        call(session, "open", path="demo.rankscope")
        _, text = call(session, "table", run="run1", table="spans", most=200)
        self.assertLessEqual(len(text), MOST_CHARACTERS)
        self.assertIn("left_out", json.loads(text))


if __name__ == "__main__":
    support.main()
