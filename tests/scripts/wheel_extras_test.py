#!/usr/bin/env python3
"""The packages that `pip install rankscope[NAME]` installs."""
import ast
import re
import unittest

from script import SCRIPTS, load

wheel = load("wheel")


def imported():
    """The modules that the package imports, by their first names."""
    names = set()
    for path in (SCRIPTS.parent / "python/rankscope").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names |= {one.name.partition(".")[0] for one in node.names}
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names.add(node.module.partition(".")[0])
    return names


class Extras(unittest.TestCase):
    def test_each_package_is_imported_by_ours(self):
        for extra, packages in wheel.EXTRAS.items():
            for package in packages:
                if package not in ("duckdb", "matplotlib") and extra != "viewer":  # one reads our tables by itself, the other draws the frames of pandas
                    self.assertIn(package, imported(), extra)

    def test_the_docs_name_only_extras_that_exist(self):
        docs = SCRIPTS.parent / "docs"
        named = {extra for path in docs.glob("*.md") for extra in re.findall(r"rankscope\[(\w+)\]", path.read_text())}
        self.assertIn("plot", named)
        self.assertEqual(named - set(wheel.EXTRAS), set())

    def test_the_viewer_is_of_the_same_version(self):
        self.assertEqual(wheel.EXTRAS["viewer"], [f"rankscope-viewer=={wheel.version()}"])
        self.assertIn(f"\nRequires-Dist: rankscope=={wheel.version()}\n", wheel.metadata_of_viewer())

    def test_no_extra_is_empty(self):
        self.assertNotIn([], list(wheel.EXTRAS.values()))


if __name__ == "__main__":
    unittest.main()
