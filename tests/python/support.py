"""What the tests of the Python package share."""
import os
import pathlib
import sys
import tempfile
import unittest

import rankscope

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEMO = ROOT / "samples/demo.rankscope"
SHARED = pathlib.Path(os.environ.get("RANKSCOPE_SHARED_DATA") or ROOT.parent / "shared/data")
PROGRAM = pathlib.Path(os.environ.get("RANKSCOPE_PROGRAM") or ROOT / "build/release/bin/rankscope")


def needs_shared(name):
    """Recordings of others, which are not part of this tree."""
    return unittest.skipUnless((SHARED / name).exists(), f"{SHARED / name} is not here")


def run_of(text):
    """A run in its text form (core/model/text.h)."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "run.txt")
        path.write_text(text)
        return rankscope.open(path)


def main():
    """unittest.main(), which ends with status 77 if a test was skipped and none failed: ctest then counts the file as skipped.

    So a file holds either tests that always run, or tests that all need one thing.
    """
    result = unittest.main(exit=False).result
    if result.wasSuccessful() and result.skipped:
        for reason in sorted({reason for _, reason in result.skipped}):
            print(f"skipped: {reason}")
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
