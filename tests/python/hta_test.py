"""The numbers of Holistic Trace Analysis (shared/data/hta_golden.csv), by the Python package."""
import csv
import math
import unittest

import rankscope
import support
from support import SHARED, needs_shared

# column of the file: (member of hta_compat.ranks[], how close)
COLUMNS = {"idle_time(us)": "idle_us", "compute_time(us)": "compute_us", "non_compute_time(us)": "non_compute_us", "kernel_time(us)": "kernel_us"}
LAUNCH = {"ls_n": "n", "ls_cpu_sum": "cpu_us", "ls_gpu_sum": "gpu_us", "ls_delay_sum": "delay_us", "ls_short_kernels": "short",
          "ls_runtime_outliers": "runtime_outliers", "ls_delay_outliers": "delay_outliers"}


def rows():
    with open(SHARED / "hta_golden.csv", newline="") as file:
        return list(csv.DictReader(file))


@needs_shared("hta_golden.csv")
class Hta(unittest.TestCase):
    def test_all_rows(self):
        found = rows()
        self.assertEqual(len(found), 16)
        for row in found:
            folder, _, note = row["folder"].partition(" ")
            with self.subTest(folder=row["folder"], rank=row["rank"]), rankscope.open(SHARED / "kineto" / folder) as run:
                hta = run.report(hta="kept" if note else "dropped")["hta_compat"]["ranks"]
                (ours,) = [one for one in hta if one["rank"] == int(row["rank"])]
                for column, member in COLUMNS.items():
                    self.assertAlmostEqual(ours[member], float(row[column]), delta=1.0, msg=column)
                if row["overlap_pctg"]:
                    self.assertAlmostEqual(ours["overlap_pct"], float(row["overlap_pctg"]), delta=0.01)
                else:
                    self.assertIsNone(ours["overlap_pct"])
                for column, member in LAUNCH.items():
                    value = float(row[column])
                    self.assertTrue(math.isclose(ours["launch"][member] or 0, value, rel_tol=1e-6, abs_tol=1.0), f"{column}: {ours['launch'][member]}, {value}")


if __name__ == "__main__":
    support.main()
