"""The notebooks of samples/notebooks run from the first cell to the last, and show what they promise."""
import os
import unittest

import nbclient
import nbformat

import support
from support import ROOT

FOLDER = ROOT / "samples/notebooks"


def executed(name):
    """The outputs of a notebook as one text."""
    os.environ["PYTHONPATH"] = str(ROOT / "python")
    notebook = nbformat.read(FOLDER / name, as_version=4)
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}).execute()
    shown = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            shown += [output.get("text", ""), *map(str, output.get("data", {}).values())]
    return "\n".join(shown)


class Notebooks(unittest.TestCase):
    def test_who_is_slow(self):
        shown = executed("who_is_slow.ipynb")
        self.assertIn("Rank 2 is slow", shown)

    def test_my_traces(self):
        self.assertIn("Rank 2", executed("my_traces.ipynb"))

    def test_every_notebook_is_tested(self):
        self.assertEqual({path.name for path in FOLDER.glob("*.ipynb")}, {"who_is_slow.ipynb", "my_traces.ipynb"})


if __name__ == "__main__":
    support.main()
