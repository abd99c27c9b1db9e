#!/usr/bin/env python3
"""What scripts/cupti-versions takes for a fault of a release."""
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

from script import SCRIPTS, load

SCRIPT = SCRIPTS / "cupti-versions"
versions = load("cupti-versions")


class Faults(unittest.TestCase):
    def test_the_recorder_samples_from_12_8_on_so_another_size_is_a_fault_from_there_on(self):
        other = ["SetConfig has 60 bytes, not 64"]
        self.assertEqual(versions.sampling_faults("12.6.80", True, other), [])
        self.assertEqual(versions.sampling_faults("12.5.82", False, []), [])
        self.assertEqual(versions.sampling_faults("12.8.57", True, []), [])
        self.assertEqual(versions.sampling_faults("12.8.57", True, other), ["PM sampling: SetConfig has 60 bytes, not 64"])
        self.assertEqual(versions.sampling_faults("13.0.85", False, []), ["it has no PM sampling"])

    def test_the_function_that_tells_13_2_and_later_is_in_these_and_in_no_other(self):
        marked = {versions.MARKER, "cuptiGetVersion"}
        for version, exported, fault in (("13.1.115", set(), ""), ("13.2.23", marked, ""), ("13.5.25", marked, ""),
                                         ("13.1.115", marked, "it has "), ("13.2.23", set(), "it lacks ")):
            faults = versions.marker_faults(version, exported)
            self.assertEqual(len(faults), 1 if fault else 0, version)
            self.assertTrue(all(one.startswith(fault) for one in faults), faults)

    def test_records_that_were_not_tried_are_a_fault(self):
        def ended(status, text="record KERNEL ..."):
            return subprocess.CompletedProcess([], status, text, "")
        self.assertEqual(versions.record_faults(ended(0), 12, 12, 12), [])
        for run, counts in ((ended(0, ""), (0, 0, 0)), (ended(0), (11, 12, 12)), (ended(0), (12, 11, 12)), (ended(1), (12, 12, 12))):
            faults = versions.record_faults(run, *counts)
            self.assertEqual(len(faults), 1, counts)
            self.assertNotEqual(faults[0], "")

    def test_a_compiler_that_fails_without_a_word_is_a_fault(self):
        with tempfile.TemporaryDirectory() as folder:
            include = pathlib.Path(folder, "include")
            include.mkdir()
            (include / "cupti_activity.h").write_text("".join(f"}} CUpti_Activity{name}3;\n" for name in versions.STRUCTURES.values()))
            with mock.patch.object(versions, "BUILD", mock.Mock(rglob=lambda name: iter([name]))), \
                    mock.patch.object(subprocess, "run", return_value=subprocess.CompletedProcess([], 4, "", "")):
                self.assertEqual(versions.compile_records(pathlib.Path(folder), "program"), ["g++ ended with status 4"])

    def test_the_recorder_looks_for_the_same_function(self):
        self.assertIn(f'"{versions.MARKER}"', (SCRIPT.parents[1] / "collectors/src/cupti/library.cpp").read_text())


if __name__ == "__main__":
    unittest.main()
