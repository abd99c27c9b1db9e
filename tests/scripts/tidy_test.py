#!/usr/bin/env python3
"""scripts/tidy says so if it cannot know what to check. The tree is a small one; cmake and clang-tidy are stand-ins."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from script import SCRIPTS

CMAKE = """#!/bin/sh
mkdir -p build/tidy build/tidy-units
echo "[$TIDY_TEST_ENTRIES]" >build/tidy/compile_commands.json
cp build/tidy/compile_commands.json build/tidy-units
"""


class Tidy(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name).resolve()
        for name in ("tidy", "lib.sh", "requirements-checks.txt"):
            (self.root / "scripts").mkdir(exist_ok=True)
            shutil.copy(SCRIPTS / name, self.root / "scripts" / name)
        tools = self.root / "build/tidy-venv/bin"
        tools.mkdir(parents=True)
        shutil.copy(SCRIPTS / "requirements-checks.txt", tools.parent / "complete")
        for name, text in (("cmake", CMAKE), ("clang-tidy", "#!/bin/sh\nexit 0\n")):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)
        (self.root / ".clang-tidy").write_text("")
        (self.root / ".gitignore").write_text("build\n")
        self.path = f"{tools}:{os.environ['PATH']}"

    def run_in_tree(self, *words, entries=""):
        environment = os.environ | {"PATH": self.path, "TIDY_TEST_ENTRIES": entries, "GIT_CONFIG_GLOBAL": "/dev/null"}
        return subprocess.run(words, cwd=self.root, capture_output=True, text=True, env=environment)

    def git(self, *words):
        done = self.run_in_tree("git", "-c", "user.name=a", "-c", "user.email=a@b", *words)
        self.assertEqual(done.returncode, 0, done.stderr)

    def commit_on(self, branch):
        self.git("init", "-q", "-b", branch)
        self.git("add", ".")
        self.git("commit", "-q", "-m", "one")

    def test_without_a_branch_to_compare_with_it_fails(self):
        self.commit_on("other")
        done = self.run_in_tree("scripts/tidy")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("there is neither main nor origin/main to compare with", done.stderr)

    def test_a_commit_that_does_not_exist_is_an_error(self):
        self.commit_on("main")
        done = self.run_in_tree("scripts/tidy", "--base", "0123456")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("git cannot list the files that changed since 0123456", done.stderr)

    def test_where_nothing_changed_there_is_no_file_to_check(self):
        self.commit_on("main")
        done = self.run_in_tree("scripts/tidy")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("no file to check", done.stdout)

    def test_all_needs_files(self):
        self.commit_on("main")
        done = self.run_in_tree("scripts/tidy", "--all")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("no file to check is in build/tidy-units/compile_commands.json", done.stderr)

    def test_changed_files_are_checked(self):
        self.commit_on("main")
        source = self.root / "core/a.cpp"
        source.parent.mkdir()
        source.write_text("int a;\n")
        entry = f'{{"directory": "{self.root}", "command": "true -o x -c y",\n"file": "{source}"}}'
        done = self.run_in_tree("scripts/tidy", entries=entry)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("tidy: 1 files, nothing found", done.stdout)


if __name__ == "__main__":
    unittest.main()
