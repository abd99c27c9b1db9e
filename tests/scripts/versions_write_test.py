#!/usr/bin/env python3
"""scripts/cupti-versions and scripts/nccl-versions write whole tables only."""
import contextlib
import io
import pathlib
import subprocess
import tempfile
import unittest
from unittest import mock

from script import load

SCRIPTS = [load("cupti-versions"), load("nccl-versions")]


def run(script, folder, *words):
    """Status, and what is said on stderr, where nothing can be downloaded."""
    said = io.StringIO()
    with mock.patch.object(script, "download", side_effect=subprocess.CalledProcessError(1, "pip")), \
            mock.patch.object(script, "PAGE", pathlib.Path(folder, "versions.md")), \
            mock.patch("sys.argv", [script.__name__, "--folder", folder, *words]), \
            contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
        try:
            return script.main(), said.getvalue()
        except SystemExit as end:
            return end.code, said.getvalue()


class Write(unittest.TestCase):
    def test_a_part_of_the_versions_is_refused(self):
        for script in SCRIPTS:
            with tempfile.TemporaryDirectory() as folder:
                status, said = run(script, folder, "--write", "--only", script.VERSIONS[0])
                self.assertEqual(status, 2)
                self.assertIn("--write needs all versions; omit --only", said)
                self.assertFalse(pathlib.Path(folder, "versions.md").exists())

    def test_nothing_is_written_if_a_version_cannot_be_downloaded(self):
        for script in SCRIPTS:
            with tempfile.TemporaryDirectory() as folder:
                status, said = run(script, folder, "--write")
                self.assertEqual(status, 1)
                self.assertIn("versions.md was not written, because these versions are missing: " + script.VERSIONS[0], said)
                self.assertFalse(pathlib.Path(folder, "versions.md").exists())

    def test_a_version_that_cannot_be_downloaded_is_a_failure_also_without_write(self):
        for script in SCRIPTS:
            with tempfile.TemporaryDirectory() as folder:
                self.assertEqual(run(script, folder, "--only", script.VERSIONS[0])[0], 1)


if __name__ == "__main__":
    unittest.main()
