#!/usr/bin/env python3
"""What scripts/cupti-versions takes for a fault of a release."""
import importlib.machinery
import importlib.util
import pathlib
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts/cupti-versions"
loader = importlib.machinery.SourceFileLoader("cupti_versions", str(SCRIPT))
versions = importlib.util.module_from_spec(importlib.util.spec_from_loader("cupti_versions", loader))
loader.exec_module(versions)


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

    def test_the_recorder_looks_for_the_same_function(self):
        self.assertIn(f'"{versions.MARKER}"', (SCRIPT.parents[1] / "collectors/src/cupti/library.cpp").read_text())


if __name__ == "__main__":
    unittest.main()
