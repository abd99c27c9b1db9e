"""Tables: what Arrow, pandas, polars, DuckDB, pyarrow and the SQLite export show is the same, and numbers are not copied."""
import gc
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import duckdb
import pandas
import polars
import pyarrow

import rankscope
import support
from support import DEMO, ROOT, run_of

TWO_RANKS = """@run world_size=2 clock=same_host clock_error=1 meta.model=mlp
@rank 0 pid=10 host=n0
@rank 1 pid=11 host=n0
@process - pid=12
@group dp 0,1
@quality events_dropped 3
0 step 0 1000 s index=4 note=hello
0 op 100 300 gemm
0 comm 400 900 allreduce group=dp bytes=64
0 step 1000 2000 s index=5
0 op 1100 1300 gemm
1 step 0 1000 s index=4
1 comm 700 900 allreduce group=dp bytes=64
1 step 1000 2000 s index=5
- op 5 6 x
0 counter 10 1024.5 rss_bytes
0 mark 30 checkpoint file=x
"""


NAME_OF = "(SELECT text FROM {0}s JOIN strings ON strings.id = {0}s.name_id WHERE {0}s.id = {1}.{0}_id)"
JOINED = {("spans", "kind"): "(SELECT name FROM span_kinds WHERE span_kinds.id = spans.kind_id)",
          ("spans", "rank"): "(SELECT rank FROM lanes WHERE lanes.id = spans.lane_id)", ("spans", "lane"): NAME_OF.format("lane", "spans"),
          ("marks", "rank"): "(SELECT rank FROM lanes WHERE lanes.id = marks.lane_id)", ("marks", "lane"): NAME_OF.format("lane", "marks"),
          ("samples", "rank"): "(SELECT rank FROM counters WHERE counters.id = samples.counter_id)",
          ("samples", "counter"): NAME_OF.format("counter", "samples"), ("collectives", "group"): NAME_OF.format("group", "collectives"),
          ("operations", "group"): NAME_OF.format("group", "operations"), ("rank_steps", "duration_ns"): "end_ns - begin_ns"}


def from_sqlite(path, table, columns):
    """Rows of the SQLite export with the columns that Arrow has: strings instead of ids, and what the ids of other tables mean."""
    database = sqlite3.connect(path)
    names = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    chosen = []
    for column in columns:
        text = f"(SELECT text FROM strings WHERE strings.id = {table}.{column}_id)"
        chosen.append(column if column in names else JOINED.get((table, column), text))
    rows = database.execute(f"SELECT {', '.join(chosen)} FROM {table}").fetchall()
    database.close()
    return rows


def readable(run):
    """The tables that this run has."""
    for name in rankscope.tables():
        try:
            yield run.table(name)
        except rankscope.CannotTellError:
            continue


def order(row):
    return tuple((value is not None, value) for value in row)


class Tables(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.demo = rankscope.open(DEMO)
        cls.two = run_of(TWO_RANKS)
        cls.gpu = rankscope.open(ROOT / "tests/golden/gpu_2_ranks/input.txt")

    def test_every_table_is_that_of_the_sqlite_export(self):
        for run in (self.gpu, self.two):
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "run.sqlite")
                run.export("sqlite", path)
                for table in readable(run):
                    columns = table.to_pydict()
                    rows = from_sqlite(path, table.name, columns)
                    ours = list(zip(*columns.values()))
                    self.assertEqual(sorted(rows, key=order), sorted(ours, key=order), table.name)

    def test_without_a_package_the_error_names_it(self):
        steps = self.demo.table("steps")
        for package, method in (("pandas", steps.to_pandas), ("polars", steps.to_polars), ("pyarrow", steps.to_pyarrow)):
            with unittest.mock.patch.dict(sys.modules, {package: None}):
                with self.assertRaisesRegex(rankscope.Error, f"this needs {package}: run pip install {package} .*to_pydict"):
                    method()

    def test_consumers_agree(self):
        for run in (self.gpu, self.two):
            for table in readable(run):
                ours = table.to_pydict()
                arrow = pyarrow.table(table)
                arrow.validate(full=True)
                self.assertEqual(arrow.to_pydict(), ours, table.name)
                self.assertEqual(polars.DataFrame(table).to_dict(as_series=False), ours, table.name)
                rows = table  # DuckDB finds it by its name
                shown = duckdb.sql("SELECT * FROM rows")
                self.assertEqual(dict(zip(shown.columns, map(list, zip(*shown.fetchall())))) if len(table) else ours, ours, table.name)
                frame = table.to_pandas()
                self.assertEqual(list(frame.columns), list(ours))
                for name, values in ours.items():
                    self.assertEqual([None if pandas.isna(value) else value for value in frame[name]], values, f"{table.name}.{name}")

    def test_types_are_those_that_are_described(self):
        for table in readable(self.gpu):
            described = rankscope.tables()[table.name]["columns"]
            for field in pyarrow.table(table).schema:
                shown = {"large_string": "string"}.get(str(field.type), str(field.type))
                shown = "string" if shown.startswith("dictionary") else shown
                self.assertEqual(shown + ("?" if field.nullable else ""), described[field.name], f"{table.name}.{field.name}")

    def test_numbers_are_shared_and_not_copied(self):
        table = self.demo.table("spans")

        def address(column):
            return pyarrow.table(table)[column].chunk(0).buffers()[1].address
        frame, spans = polars.DataFrame(table), table.to_pandas()
        for column in ("begin_ns", "duration_ns", "lane_id"):
            self.assertEqual(address(column), address(column))
            self.assertEqual(frame[column].to_numpy(allow_copy=False).__array_interface__["data"][0], address(column), column)
            self.assertEqual(spans[column].to_numpy().__array_interface__["data"][0], address(column), column)

    def test_a_frame_cannot_change_the_table(self):
        table = self.gpu.table("spans")
        before = table.to_pydict()
        frame = table.to_pandas()
        for column in ("begin_ns", "duration_ns", "lane_id"):
            self.assertFalse(frame[column].to_numpy().flags.writeable)
        with self.assertRaises(ValueError):
            frame["begin_ns"].array[:] = 0
        copy = frame.copy()
        copy["begin_ns"] = 0
        copy.loc[0, "duration_ns"] = 7
        self.assertEqual(table.to_pydict(), before)

    def test_missing_texts_are_missing_in_pandas(self):
        frame = self.two.table("findings").to_pandas()
        self.assertEqual(str(frame["title"].dtype), "string")
        shown = self.demo.table("memory").to_pandas()
        self.assertTrue(shown["peak_op"].isna().any())
        self.assertNotIn("None", list(shown["peak_op"].dropna()))

    def test_the_types_of_ctypes_stay_those_of_other_packages(self):
        program = ("import ctypes, sys\n"
                   "before = ctypes.pythonapi.PyCapsule_New.argtypes, ctypes.pythonapi.PyCapsule_GetPointer.restype\n"
                   "import rankscope\n"
                   "rankscope.open(sys.argv[1]).table('steps').__arrow_c_stream__()\n"
                   "print(before == (ctypes.pythonapi.PyCapsule_New.argtypes, ctypes.pythonapi.PyCapsule_GetPointer.restype))\n")
        done = subprocess.run([sys.executable, "-c", program, DEMO], capture_output=True, text=True)
        self.assertEqual(done.stdout, "True\n", done.stderr)

    def test_strings_that_are_alike_only_when_shown_are_one_category(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "run.txt")
            path.write_bytes(b"0 op 0 10 a\xffb\n0 op 10 20 a\xfeb\n0 op 20 30 c\n0 op 30 40 a\xfeb\n")
            spans = rankscope.open(path).table("spans")
        shown = ["a\ufffdb", "a\ufffdb", "c", "a\ufffdb"]
        self.assertEqual(pyarrow.table(spans)["name"].chunk(0).dictionary.to_pylist(), ["a\ufffdb", "c"])
        self.assertEqual(list(spans.to_pandas()["name"]), shown)
        self.assertEqual(polars.DataFrame(spans)["name"].to_list(), shown)

    def test_ranks_beyond_all_bounds_are_refused(self):
        for text in ("4294967294 op 0 10 a\n", "@group dp 0,2147483648\n0 op 0 10 a\n"):
            with self.assertRaises(rankscope.UnreadableError) as caught:
                run_of(text)
            self.assertIn("must be a rank", str(caught.exception))

    def test_a_frame_outlives_its_table_and_its_run(self):
        run = rankscope.open(DEMO)
        frame = run.table("spans", columns=["begin_ns"]).to_pandas()
        arrow = pyarrow.table(run.table("spans", columns=["begin_ns", "name"]))
        before = int(frame["begin_ns"].sum())
        run.close()
        del run
        gc.collect()
        self.assertEqual(int(frame["begin_ns"].sum()), before)
        self.assertEqual(sum(arrow["begin_ns"].to_pylist()), before)
        arrow.validate(full=True)

    def test_a_capsule_that_nobody_takes_is_freed(self):
        table = self.demo.table("steps")
        for _ in range(3):
            del_me = table.__arrow_c_stream__()
            del del_me
        gc.collect()
        self.assertGreater(len(table), 0)

    def test_ranks_steps_and_columns_choose(self):
        steps = self.two.table("rank_steps", ranks=1, steps=5).to_pydict()
        self.assertEqual((steps["rank"], steps["step"], steps["duration_ns"]), ([1], [5], [1000]))
        spans = self.two.table("spans", ranks=[0], steps=(5, None), columns=["name", "rank"]).to_pydict()
        self.assertEqual(spans, {"name": ["s", "gemm"], "rank": [0, 0]})
        self.assertEqual(self.two.table("spans", steps="4:4", columns=["name"]).to_pydict()["name"].count("s"), 2)
        self.assertEqual(len(self.two.table("samples", ranks=1)), 0)
        self.assertEqual(self.two.table("steps", steps=range(4, 5)).to_pydict()["step"], [4])

    def test_waits_are_those_of_the_whole_run_whatever_is_chosen(self):
        chosen = self.two.table("collectives", ranks=0, columns=["rank", "group", "wait_ns", "transfer_ns", "waited_for"]).to_pydict()
        self.assertEqual(chosen, {"rank": [0], "group": ["dp"], "wait_ns": [300], "transfer_ns": [200], "waited_for": [1]})

    def test_what_is_not_there_is_said(self):
        for wrong, words in (
                (lambda: self.two.table("span"), "'span' is not a table; choose from: run,"),
                (lambda: self.two.table("spans", columns=["nam"]), "table spans has no column 'nam'; choose from: id,"),
                (lambda: self.two.table("spans", columns=["name", "name"]), "asked for twice"),
                (lambda: self.two.table("spans", columns=[]), "columns is empty"),
                (lambda: self.two.table("spans", ranks=7), "7"),
                (lambda: self.two.table("spans", ranks=[-1]), "ranks must be"),
                (lambda: self.two.table("spans", ranks=[]), "ranks is empty"),
                (lambda: self.two.table("spans", steps=(7, 9)), "its steps are 4 to 5"),
                (lambda: self.two.table("spans", steps="a"), "steps must be A:B"),
                (lambda: self.two.table("spans", steps=(1, 2, 3)), "has 3 entries"),
                (lambda: self.two.table("strings", ranks=0), "do not belong to ranks"),
                (lambda: self.two.table("lanes", steps=4), "do not belong to steps")):
            with self.assertRaises(rankscope.UsageError) as caught:
                wrong()
            self.assertIn(words, str(caught.exception))

    def test_cannot_tell_is_no_empty_table(self):
        no_steps = run_of("0 op 0 10 a\n")
        with self.assertRaises(rankscope.CannotTellError) as caught:
            no_steps.table("steps")
        missing = no_steps.table("missing").to_pydict()
        self.assertIn("steps", missing["table_name"])
        self.assertIn(missing["why"][missing["table_name"].index("steps")], str(caught.exception))
        self.assertEqual(len(no_steps.table("marks")), 0)

    def test_strings_that_are_no_utf8_are_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "run.txt")
            path.write_bytes(b"0 op 0 10 a\xffb\n")
            names = pyarrow.table(rankscope.open(path).table("spans"))
        names.validate(full=True)
        self.assertEqual(names["name"].to_pylist(), ["a\ufffdb"])

    def test_every_column_is_documented(self):
        text = (ROOT / "docs/sqlite.md").read_text()
        rows = {name: row for row in re.findall(r"^\| (`.*)$", text, re.M) for name in re.findall(r"`(\w+)`", row.split("|")[0])}
        for name, table in rankscope.tables().items():
            self.assertIn(name, rows)
            for column in table["columns"]:
                self.assertRegex(rows[name], rf"\b{column}(_id)?\b", f"docs/sqlite.md, table {name}")


if __name__ == "__main__":
    support.main()
