"""from_table: every kind of table gives the same run, and impossible tables are refused in words."""
import math
import unittest

import duckdb
import pandas
import polars
import pyarrow

import rankscope
from rankscope import _library
import support

SMALL = {"rank": [0, 0, 1, 1], "name": ["forward", "sync", "forward", "sync"], "start": [0.0, 1.0, 0.0, 3.0],
         "duration": [1.0, 3.0, 3.0, 1.0], "kind": ["forward", "comm", "forward", "comm"], "op": [None, "allreduce", None, "allreduce"],
         "group": [None, "dp", None, "dp"], "step": [0, 0, 0, 0]}


def run_of(table=None, **changed):
    options = {"time_unit": "ms", **{name: changed.pop(name) for name in list(changed) if name not in {*SMALL, "end", "lane", "stream"}}}
    return rankscope.from_table({**SMALL, **changed} if table is None else table, **options)


class FromTable(unittest.TestCase):
    def test_every_kind_of_table_gives_the_same_run(self):
        expected = run_of().table("spans").to_pydict()
        self.assertEqual(expected["begin_ns"].count(3_000_000), 1)
        frame = pandas.DataFrame(SMALL)
        for table in (frame, polars.DataFrame(SMALL), polars.LazyFrame(SMALL), pyarrow.table(SMALL), duckdb.sql("SELECT * FROM frame")):
            self.assertEqual(run_of(table).table("spans").to_pydict(), expected)

    def test_waits_are_found(self):
        waits = run_of().table("collectives", columns=["rank", "wait_ns", "waited_for"]).to_pydict()
        self.assertEqual(waits, {"rank": [0, 1], "wait_ns": [2_000_000, 0], "waited_for": [1, None]})

    def test_columns_can_have_other_names_and_ends(self):
        other = {"r": SMALL["rank"], "what": SMALL["name"], "t0": SMALL["start"], "t1": [1.0, 4.0, 3.0, 4.0], "colour": ["a", "b", "c", "d"]}
        run = run_of(other, columns={"rank": "r", "name": "what", "start": "t0", "end": "t1"}, attributes=["colour"])
        self.assertEqual(run.table("spans", columns=["duration_ns"]).to_pydict()["duration_ns"], [1_000_000, 3_000_000, 3_000_000, 1_000_000])
        self.assertEqual(run.table("span_attributes").to_pydict()["text"], ["a", "b", "c", "d"])

    def test_steps_that_count_from_their_own_beginning_follow_each_other(self):
        run = run_of({"rank": [0, 0], "name": ["a", "a"], "start": [0, 0], "duration": [5, 7], "step": [10, 20]}, start_of="step")
        steps = run.table("rank_steps", columns=["step", "begin_ns", "end_ns"]).to_pydict()
        self.assertEqual(steps, {"step": [0, 1], "begin_ns": [0, 5_000_000], "end_ns": [5_000_000, 12_000_000]})

    def test_impossible_tables_are_refused_in_words(self):
        nan = math.nan
        for words, wrong in (
                ("has no column 'rank'", {"table": {"name": ["a"], "start": [0], "duration": [1]}}),
                ("must have a column 'duration' or 'end'", {"table": {"rank": [0], "name": ["a"], "start": [0]}}),
                ("different lengths", {"rank": [0]}),
                ("the table has no rows", {"table": {"rank": [], "name": [], "start": [], "duration": []}}),
                ("row 1: start and either duration or end must be given", {"start": [0.0, nan, 0.0, 3.0]}),
                ("row 2: start is inf", {"start": [0.0, 1.0, math.inf, 3.0]}),
                ("row 0: the duration is negative", {"duration": [-1.0, 3.0, 3.0, 1.0]}),
                ("row 3: name is missing", {"name": ["a", "b", "c", None]}),
                ("row 0: rank must be a whole number", {"rank": [0.5, 0, 1, 1]}),
                ("row 0: kind 'bake' is unknown", {"kind": ["bake", "comm", "forward", "comm"]}),
                ("all three must be in the same unit", {"end": [1.0, 4.0, 3.0, 4000.0]}),
                ("neither encloses the other", {"duration": [1.5, 3.0, 3.0, 1.0], "lane": ["main"] * 4}),
                ("must be in the same unit", {"duration": [1e-4, 3e-4, 3e-4, 1e-4]}),
                ("all ranks must use one unit", {"start": [0.0, 1.0, 0.0, 3000.0], "duration": [1.0, 3.0, 3000.0, 1000.0]}),
                ("is not a member of group 'dp'", {"groups": {"dp": [1, 2]}}),
                ("the events of rank 1 fill only", {"start": [0.0, 1.0, 0.0, 9.0], "duration": [1.0, 3.0, 1e-4, 1e-4]}),
                ("row 1: bytes must be from 0", {"table": {**SMALL, "bytes": [None, -1, None, 1]}}),
                ("row 3: sequence must be a whole number", {"table": {**SMALL, "sequence": [None, 1, None, 1e30]}}),
                ("row 1: peer must be from -1 to", {"table": {**SMALL, "peer": [None, 1 << 40, None, 0]}}),
                ("row 0: rank must be from 0 to 16777215", {"rank": [1 << 24, 0, 1, 1]}),
                ("row 1: colour is 1000", {"table": {**SMALL, "colour": [1, 10**40, 1, 1]}, "attributes": ["colour"]}),
                ("rows 0 and 4 are the same event", {"table": {name: [*values, values[0]] for name, values in SMALL.items()}}),
                ("rows 1 and 3 are the same operation", {"table": {**SMALL, "rank": [0, 0, 1, 0], "start": [0.0, 1.0, 0.0, 5.0],
                                                                   "sequence": [None, 4, None, 4]}}),
                ("groups['dp'] has a rank twice", {"groups": {"dp": [0, 1, 1]}}),
                ("groups['dp'] must be a whole number", {"groups": {"dp": [0, 1.5]}}),
                ("the table has two columns 'name'", {"table": pandas.DataFrame([[0, "a", 0.0, 1.0, "b"]], columns=["rank", "name", "start", "duration", "name"])}),
                ("the table has two columns '1'", {"table": {**SMALL, 1: SMALL["rank"], "1": SMALL["rank"]}}),
                ("attributes: the column 'name' is kept already", {"attributes": ["name"]}),
                ("world_size must be from 1", {"world_size": 0}),
                ("overlap_ns must be a whole number", {"overlap_ns": 0.5}),
                ("time_unit must be one of", {"time_unit": "min"}),
                ("'rang' is not a known column", {"columns": {"rang": "rank"}}),
                ("the table has no column 'r'", {"columns": {"rank": "r"}}),
                ("must be from pandas, polars, pyarrow or DuckDB", {"table": 3})):
            with self.subTest(words):
                with self.assertRaises(rankscope.UsageError) as caught:
                    run_of(**wrong)
                self.assertIn(words, str(caught.exception))

    def test_small_overlaps_are_mended_and_counted(self):
        run = run_of(lane=["main"] * 4, duration=[1.00001, 3.0, 3.0, 1.0])
        quality = run.table("quality").to_pydict()
        self.assertEqual(dict(zip(quality["counter"], quality["value"])).get("events_repaired"), 1)

    def test_a_table_that_only_looks_wrong_can_be_accepted(self):
        self.assertEqual(len(run_of(duration=[1e-4, 3e-4, 3e-4, 1e-4], sparse=True).ranks), 2)

    def test_units_that_are_mixed_are_found_before_steps_are_laid_out(self):
        steps = {"rank": [0, 0, 1, 1], "name": ["a"] * 4, "step": [0, 1, 0, 1], "start": [0, 0, 0, 0], "duration": [1000, 1000, 1, 1]}
        with self.assertRaises(rankscope.UsageError) as caught:
            run_of(steps, start_of="step")
        self.assertIn("all ranks must use one unit", str(caught.exception))

    def test_a_span_around_all_others_does_not_hide_mixed_units(self):
        nested = {"rank": [0] * 42, "name": ["a"] * 42, "lane": [f"l{i}" for i in range(42)], "start": [0] * 41 + [10**6], "duration": [20] * 42}
        with self.assertRaises(rankscope.UsageError) as caught:
            run_of(nested)
        self.assertIn("must be in the same unit", str(caught.exception))

    def test_a_stage_may_be_any_text(self):
        run = run_of({**SMALL, "stage": ["encoder left = 1"] * 2 + ["b"] * 2})
        self.assertIn("encoder left = 1", run.table("process_metadata").to_pydict()["value"])

    def test_missing_values_of_pandas_are_missing(self):
        frame = pandas.DataFrame({**SMALL, "sequence": pandas.array([None, 4, None, 4], dtype="Int64"),
                                  "host": pandas.array(["a", None, "b", None], dtype="string")})
        run = run_of(frame)
        self.assertEqual(run.table("collectives", columns=["sequence"]).to_pydict()["sequence"], [4, 4])
        self.assertEqual(run.table("processes", columns=["host"]).to_pydict()["host"], ["a", "b"])

    def test_reading_a_long_table_can_be_stopped(self):
        task = _library.Task(stop=1)
        text = b"0 op 0 10 a\n" * 10_000
        with self.assertRaises(rankscope.Error) as caught:
            _library.call_for_handle("rankscope_open_text", text, len(text), _library.task_pointer(task), close="rankscope_close")
        self.assertIn("cancelled", str(caught.exception))

    def test_names_with_special_characters_are_kept(self):
        name = 'a "b" \\ é\n# c=d'
        run = run_of({"rank": [0], "name": [name], "start": [0], "duration": [1]})
        self.assertEqual(run.table("spans", columns=["name"]).to_pydict()["name"], [name])


if __name__ == "__main__":
    support.main()
