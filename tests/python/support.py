"""What the tests of the Python package share."""
import os
import pathlib
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
