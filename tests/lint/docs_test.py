"""scripts/check_docs.py must find what it is there for: each test makes a small tree with one fault in it."""
import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
import check_docs  # noqa: E402

METRICS = """# The numbers

| C4 | The median |

## 6 Waiting

| 6.1 | `wait_ns` |
**6.2 Transfer** is the rest.
"""


def faults(files):
    """What is printed for a tree of these files and a docs/metrics.md."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in ({"docs/metrics.md": METRICS} | files).items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = check_docs.main([folder])
        return out.getvalue() if status else ""


class Ids(unittest.TestCase):
    def test_defined_ids_are_fine(self):
        text = "// Waits (metrics.md 6, 6.1 and C4).\n// Transfer (6.2), for 9.9 ms (8.7 %), by NCCL 2.28 of 12 ranks.\n"
        self.assertEqual(faults({"analyzer/src/a.cpp": text}), "")

    def test_an_id_that_is_not_defined_is_found_with_its_line(self):
        self.assertEqual(faults({"core/src/a.h": "// One.\n// Two (metrics.md 6.3).\n"}),
                         "core/src/a.h:2: 6.3 is not defined in docs/metrics.md\n")

    def test_every_id_of_a_list_counts_also_on_the_next_line(self):
        said = faults({"tests/a_test.cpp": "// Waits (metrics.md\n// 6.1, 7.2 to 7.4), K5.\n"})
        self.assertIn("7.2 is not defined", said)
        self.assertIn("7.4 is not defined", said)

    def test_short_citations_of_comments_count_and_numbers_in_code_do_not(self):
        said = faults({"analyzer/src/a.cpp": "double f() { return half(0.5); }  // robust (6.1)\nint x;  // clock-free (6.9)\n"})
        self.assertEqual(said, "analyzer/src/a.cpp:2: 6.9 is not defined in docs/metrics.md\n")

    def test_docs_cite_with_a_link_and_metrics_cites_itself(self):
        self.assertIn("docs/a.md:1: 7 is not", faults({"docs/a.md": "as defined ([metrics](metrics.md), 7)\n"}))
        self.assertIn("docs/metrics.md:9: 8.1 is not", faults({"docs/metrics.md": METRICS + "as in (8.1)\n"}))


class Docs(unittest.TestCase):
    def test_links_lead_to_files_and_headings(self):
        self.assertEqual(faults({"README.md": "[waits](docs/metrics.md#6-waiting) [out](https://example.org/x)\n"}), "")
        self.assertIn("README.md:1: docs/gone.md does not exist", faults({"README.md": "[gone](docs/gone.md)\n"}))
        self.assertIn("no such heading", faults({"README.md": "[waits](docs/metrics.md#7-clocks)\n"}))

    def test_something_links_to_every_page(self):
        tree = {"README.md": "[numbers](docs/metrics.md)\n", "docs/a.md": "[b](b.md#b)\n", "docs/b.md": "# b\n[own](b.md#b)\n"}
        self.assertEqual(faults(tree), "docs/a.md:1: nothing links to this page\n")
        self.assertEqual(faults(tree | {"README.md": "[numbers](docs/metrics.md) [a](docs/a.md)\n"}), "")

    def test_files_that_are_mentioned_exist(self):
        tree = {"core/include/rankscope/core/result.h": "", "core/src/a_b.cpp": ""}
        fine = "`core/result.h`, `core/src/a_*.cpp`, `core/src/{a,a_b}.cpp`, `core/src/<x>.cpp`, 3 samples/s, `a_b.cpp`\n"
        said = faults(tree | {"docs/a.md": fine})
        self.assertEqual(said, "docs/a.md:1: core/src/a.cpp does not exist\n")
        self.assertIn("there is no file gone.cpp", faults({"docs/a.md": "see `gone.cpp`\n"}))
        self.assertIn("a.cpp:1: docs/gone.md does not exist", faults({"cli/src/a.cpp": "help(\"docs/gone.md\");\n"}))

    def test_evidence_and_rows_of_adding_name_a_commit(self):
        self.assertEqual(faults({"docs/evidence/a.md": "Measured at commit 0bd42bb.\n"}), "")
        self.assertIn('must say "at commit', faults({"docs/evidence/a.md": "Measured today.\n"}))
        table = "| add a… | file |\n|---|---|\n| verb | `cli/src/<x>.cpp` | %s |\n"
        self.assertEqual(faults({"cli/src/main.cpp": "", "docs/adding.md": table % "`0bd42bb`"}), "")
        self.assertIn("docs/adding.md:3: this row names no example commit", faults({"docs/adding.md": table % "soon"}))

    def test_commits_of_other_branches_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder, "tree")
            def git(*words, at=root):
                return subprocess.run(["git", "-C", str(at), "-c", "user.name=a", "-c", "user.email=a@b", *words], check=True,
                                      capture_output=True, text=True).stdout.strip()
            def commit(name):
                git("commit", "-q", "--allow-empty", "-m", name)
                return git("rev-parse", "--short", "HEAD")
            def checked(at):
                out, said = io.StringIO(), io.StringIO()
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
                    status = check_docs.main([str(at)])
                return status, out.getvalue(), said.getvalue()
            (root / "docs/evidence").mkdir(parents=True)
            git("init", "-q", "-b", "main")
            first = commit("first")
            git("checkout", "-q", "-b", "other")
            other = commit("other")
            git("checkout", "-q", "main")
            page = root / "docs/evidence/a.md"
            page.write_text(f"Measured at commit {first}.\n")
            self.assertEqual(checked(root), (0, "", ""))
            page.write_text(f"Measured at commit {first}.\nThen at commit {other}.\n")
            self.assertEqual(checked(root), (1, f"docs/evidence/a.md:2: commit {other} is not in the history of HEAD\n", ""))
            git("add", ".")
            commit("page")
            git("clone", "-q", "--depth", "1", root.as_uri(), str(root.parent / "shallow"))
            status, out, said = checked(root.parent / "shallow")
            self.assertEqual((status, out), (0, ""))
            self.assertIn("not checked: whether the commits exist", said)

    def test_packages_are_listed_with_their_reasons(self):
        packages = "# Packages\n[build]\ncmake  # why\ng++  # why\n"
        self.assertEqual(faults({"scripts/packages.txt": packages, "docs/dependencies.md": "`cmake` 3.25\n"}),
                         "scripts/packages.txt:4: g++ is not listed in docs/dependencies.md\n")

    def test_readme_fits_two_screens(self):
        link = "[numbers](docs/metrics.md)\n"
        self.assertEqual(faults({"README.md": link + "line\n" * 79}), "")
        self.assertIn("README has 81 lines", faults({"README.md": link + "line\n" * 80}))


if __name__ == "__main__":
    unittest.main()
