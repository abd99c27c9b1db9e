#!/usr/bin/env python3
"""The table of programs and faults."""
import unittest

import cells


class Cells(unittest.TestCase):
    def test_have_names_from_which_they_can_be_made(self):
        for cell in cells.table():
            self.assertEqual(cells.cell_of(cell.name), cell)

    def test_are_chosen_by_name_or_pattern(self):
        self.assertEqual(cells.chosen(["fsdp:sleep:2"]), [cells.Cell("fsdp", "sleep", 2)])
        live = cells.chosen(["*:none:*:live"])
        self.assertTrue(live and all(cell.clean and cell.source == "live" for cell in live))
        with self.assertRaisesRegex(ValueError, "ddp:slep:2"):
            cells.chosen(["fsdp:sleep:2", "ddp:slep:2"])

    def test_include_the_short_table(self):
        self.assertLessEqual(set(cells.short_table()), set(cells.table()))


if __name__ == "__main__":
    unittest.main()
