"""The runs that were judged, in a file to which every run is added as soon as it is judged."""
import dataclasses
import json
import os
import pathlib
import re
import statistics

import cells
from judging import CANNOT_TELL, HIT, NAMED, NOBODY, OTHER_CAUSE, OTHER_RANK, Verdict, failed

UNKNOWN_S = 40  # how long a run takes, before the first one


@dataclasses.dataclass
class Run:
    cell: str
    commit: str
    verdict: Verdict
    how: str = ""  # steps, cores, torch; "": judged by the first version of the script
    seconds: float = 0
    again: bool = False  # it could not tell, and was repeated; this run counts in the table, but not as one of those wanted

    def row(self):
        return {name: value for name, value in vars(self).items() if name != "verdict"} | vars(self.verdict)


def verdict_of_problem(cell, problem):
    """Of the first version, which wrote None for a hit: also for a clean run that cannot tell, and for waits that are too long."""
    right = NOBODY if cell.clean else NAMED
    function = HIT if cell.names_function else ""
    if problem is None:
        return Verdict(right, function=function)
    if problem == "cannot tell":
        return Verdict(CANNOT_TELL)
    if problem.startswith(("function: ", "no function")):
        return Verdict(right, function=problem)
    if problem.startswith("rank "):
        return Verdict(right, function=function, waits=problem)
    if problem.startswith(("stragglers: [", "slow connections")):
        ranks = set(map(int, re.findall(r"\d+", problem)))
        names = NOBODY if not ranks else OTHER_CAUSE if ranks == {cell.slow_rank} and not cell.clean else OTHER_RANK
        return Verdict(names, problem if ranks else "")
    return failed(problem)


def run_of(row):
    if "problem" in row:
        return Run(row["cell"], row["commit"], verdict_of_problem(cells.cell_of(row["cell"]), row["problem"]))
    names = [field.name for field in dataclasses.fields(Run) if field.name != "verdict"]
    return Run(verdict=Verdict(**{name: value for name, value in row.items() if name not in names}), **{name: row[name] for name in names})


class Kept:
    def __init__(self, path=None):
        self.path = pathlib.Path(path) if path else None
        self.runs = []
        if self.path and self.path.exists():
            self.read()

    def read(self):
        """A last line without its end was being written when the script was killed: that run is made again."""
        text = self.path.read_text()
        whole = text[:text.rfind("\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                self.runs.append(run_of(json.loads(line)))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                raise ValueError(f"{self.path}:{number}: not a run of scripts/truth-pytorch ({error})") from None
        if whole != text:
            os.truncate(self.path, len(whole.encode()))

    def add(self, run):
        self.runs.append(run)
        if self.path:
            with self.path.open("a") as file:
                file.write(json.dumps(run.row()) + "\n")
                file.flush()
                os.fsync(file.fileno())

    def of(self, cell):
        return [run for run in self.runs if run.cell == cell.name]

    def counted(self, cell):
        return sum(not run.again for run in self.of(cell))

    def repeated(self, cell):
        """How often the next run of the cell was made without an answer."""
        runs = self.of(cell)
        return next((number for number, run in enumerate(reversed(runs)) if not run.again), len(runs))

    def expected_s(self, cell):
        """How long the next run takes: the mean of the runs of the cell, or of all."""
        for runs in (self.of(cell), self.runs):
            known = [run.seconds for run in runs if run.seconds > 0]
            if known:
                return statistics.mean(known)
        return UNKNOWN_S
