"""docs/evidence/truth-pytorch.md: what was required, what was measured, and every run that was missed."""
import collections
import statistics

import cells
import waits
from judging import CANNOT_TELL, HIT, NAMED, NOBODY, NO_VERDICT, OTHER_CAUSE, OTHER_RANK

WITH_FUNCTION = ("sleep", "loader", "workers", "gc", "batch")  # of which the function must be named
SHORT_MS = waits.SHORT_NS / 1e6

INTRO = """\
Each program in `tests/truth/pytorch` is trained under torchrun with a fault on one rank, or without one (`none`). It knows nothing about
rankscope. "live" is recorded by `rankscope record`; "kineto3" and "kineto20" are traces of torch.profiler with 3 and 20 steps.

- **With a fault**, a run is a hit only if the report names exactly the faulty rank, with the cause of the fault: host for `sleep` and `gc`, data
  for `loader` and `workers`, compute for `compute` and `batch`; for `link`, the slow connection of that rank and no slow rank. Everything else is
  missed: "cannot tell", nobody, another cause (of the right rank), another rank, and no verdict (the program or the report failed).
- **Clean** runs must name no rank as slow and no connection as slow. "Cannot tell" names nobody, but it is not "no problem found" either: it has
  its own column.
- **The function** must be the one of the program in which the fault is. For `batch`, it is `main` (which calls backward) or the network's
  forward. Runs in which the rank is not named count as missed.
- **Waits** of each rank, per step in the mean of the counted steps, must be within 10 % of the clocks of the program, or within 2 ms if they are
  shorter than 10 ms. The clocks of `fsdp`, `groups` and `pipeline` note when each rank calls each operation, also where PyTorch itself makes
  the call; those of `ddp` and `accumulate` note when the last gradient is ready. A rank waits from then until the last member is ready."""


def percent(part, whole):
    return f"{part} of {whole}" + (f" ({100 * part / whole:.1f} %)" if whole else "")


def table(heads, rows):
    return ["| " + " | ".join(map(str, row)) + " |" for row in (heads, ["---"] * len(heads), *rows)]


def sums(items):
    return ", ".join(f"{what} ({number} run{'s' * (number != 1)})" for what, number in items.items())


class Page:
    """`goals`: how many runs of each cell are wanted."""

    def __init__(self, goals, kept):
        self.goals, self.kept = goals, kept
        self.runs = {cell: kept.of(cell) for cell in goals}

    def select(self, source, clean=None):
        """(cell, run) of all runs."""
        return [(cell, run) for cell, runs in self.runs.items() for run in runs
                if source in (None, cell.source) and clean in (None, cell.clean)]

    def missing(self):
        return {cell: goal - self.kept.counted(cell) for cell, goal in self.goals.items() if self.kept.counted(cell) < goal}

    def head(self, today):
        everything = [run for _, run in self.select(None)]
        commits, how = (collections.Counter(getattr(run, name) or "not kept" for run in everything) for name in ("commit", "how"))
        missing, again = self.missing(), sum(run.again for run in everything)
        lines = [f"Made by `scripts/truth-pytorch` on {today}, with Gloo. Measured at commit {sums(commits)}; with {sums(how)}.", ""]
        wanted = sum(self.goals.values())
        lines.append(f"{'**Not complete.** ' if missing else ''}Runs made: {wanted - sum(missing.values())} of {wanted}. "
                     f"Complete cells: {len(self.goals) - len(missing)} of {len(self.goals)}.")
        if len(self.goals) < len(cells.table()):
            lines.append(f"The whole table has {len(cells.table())} cells; the others are not on this page.")
        if again:
            lines.append(f"Further runs, which could not tell and were repeated (`--patience`): {again}. They count in all tables.")
        return lines + self.of_first_version() + ["", INTRO]

    def of_first_version(self):
        old = [(cell, run) for cell, run in self.select(None) if not run.how]
        clean = sum(cell.clean and run.verdict.names == NOBODY for cell, run in old)
        lines = []
        if clean:
            lines.append(f"Clean runs that were judged by the first version of the script: {clean}. It did not keep whether the report could tell: "
                         "they count as \"nobody\".")
        if old:
            lines.append(f"Runs whose waits that version judged in part (no short ones; in some programs no upper limit): "
                         f"{sum(run.verdict.waits == '' for _, run in old)}. They are not in the table of waits.")
        return lines

    def requirements(self):
        rows = [self.runs_of_a_cell("live", False, 3), self.runs_of_a_cell("live", True, 20), self.hits("live", 0.95), self.clean("live"),
                self.functions(), self.waits_right("live"), self.hits("kineto3", 0.90), self.false("kineto3"), self.waits_right("kineto3"),
                self.hits("kineto20"), self.false("kineto20", "–"), self.waits_right("kineto20", "–")]
        return ["## What is required", "", *table(("what", "required", "measured", "met"), rows)]

    def runs_of_a_cell(self, source, clean, least):
        numbers = [self.kept.counted(cell) for cell in self.goals if (cell.source, cell.clean) == (source, clean)]
        fewest = min(numbers, default=0)
        what = "clean runs of each program and number of ranks" if clean else "runs of each cell with a fault"
        return f"{source}: {what}", f"{least} or more", fewest, met(numbers, fewest >= least)

    def hits(self, source, least=None):
        found = [run.verdict.names for _, run in self.select(source, False)]
        hits = found.count(NAMED)
        return (f"{source}, with a fault: rank and cause named", f"{round(100 * least)} % or more" if least else "–", percent(hits, len(found)),
                met(found, hits >= least * len(found)) if least else "–")

    def clean(self, source):
        found = [run.verdict.names for _, run in self.select(source, True)]
        named = found.count(OTHER_RANK)
        others = f"; {found.count(CANNOT_TELL)} cannot tell, {found.count(NO_VERDICT)} without a verdict"
        return f"{source}, clean: a rank named", "none", percent(named, len(found)) + others, met(found, named == 0)

    def false(self, source, required="none"):
        found = [run.verdict.names for _, run in self.select(source)]
        wrong = sum(names in (OTHER_RANK, OTHER_CAUSE) for names in found)
        return (f"{source}, clean or with a fault: another rank or another cause named", required, percent(wrong, len(found)),
                met(found, wrong == 0) if required == "none" else "–")

    def functions(self):
        found = [run.verdict for cell, run in self.select("live", False) if cell.fault in WITH_FUNCTION]
        hits = sum(has_function(verdict) for verdict in found)
        return f"live, {', '.join(WITH_FUNCTION)}: the function named", "90 % or more", percent(hits, len(found)), met(found, hits >= 0.9 * len(found))

    def waits_right(self, source, required="all"):
        everything = [run.verdict.waits for _, run in self.select(source)]
        found = [said for said in everything if said]
        return (f"{source}: waits of all ranks as the clocks say", required,
                percent(found.count(HIT), len(found)) + f"; {len(everything) - len(found)} not compared",
                met(found, found.count(HIT) == len(found)) if required == "all" else "–")

    def clean_table(self):
        rows = []
        for cell, runs in self.runs.items():
            if cell.clean:
                found = [run.verdict.names for run in runs]
                rows.append([cell.script, cell.ranks, cell.source, len(found), *map(found.count, (NOBODY, CANNOT_TELL, OTHER_RANK, NO_VERDICT))])
        return ["## Clean runs", "", *table(("program", "ranks", "recorded", "runs", "nobody", "cannot tell", "a rank named", "no verdict"), rows)]

    def fault_table(self):
        rows = []
        for cell, runs in self.runs.items():
            if not cell.clean:
                found = [run.verdict.names for run in runs]
                functions = share_of(sum(has_function(run.verdict) for run in runs), len(runs)) if cell.names_function else "–"
                rows.append([cell.script, cell.fault, cell.ranks, cell.source, share_of(found.count(NAMED), len(found)),
                             *map(found.count, (CANNOT_TELL, NOBODY, OTHER_CAUSE, OTHER_RANK, NO_VERDICT)), functions])
        return ["## Runs with a fault", "", *table(("program", "fault", "ranks", "recorded", "rank and cause named", "cannot tell", "nobody", "another cause",
                                                    "another rank", "no verdict", "function named"), rows)]

    def waits_table(self):
        by_program = collections.defaultdict(list)
        for cell, run in self.select(None):
            if run.verdict.waits:
                by_program[cell.script, cell.source].append(run.verdict)
        rows = []
        for (script, source), verdicts in by_program.items():
            pairs = [pair for verdict in verdicts for pair in verdict.compared]
            ratios = [told / by_clock for told, by_clock in pairs if by_clock >= SHORT_MS]
            short = [abs(told - by_clock) for told, by_clock in pairs if by_clock < SHORT_MS]
            rows.append([script, source, f"{sum(verdict.waits == HIT for verdict in verdicts)} of {len(verdicts)}", len(ratios), in_three(ratios),
                         len(short), f"{max(short):.1f} ms" if short else "–"])
        heads = ("program", "recorded", "runs with right waits", "waits of 10 ms or more", "by the report / by the clocks: smallest, median, largest",
                 "shorter waits", "largest difference")
        return ["## Waits", "", *table(heads, rows)]

    def missed(self):
        lines = []
        for cell, runs in self.runs.items():
            problems = collections.Counter("; ".join(run.verdict.problems(cell)) for run in runs)
            lines += [f"- {cell.name}: {number} of {len(runs)}: {what}" for what, number in problems.items() if what]
        return ["## Missed", "", *(lines or ["No run."])]

    def mentioned(self):
        found = collections.Counter(what.split(" of rank ")[0] for _, run in self.select(None, True) for what in run.verdict.mentioned)
        lines = [f"- `{what}`: {number}" for what, number in sorted(found.items())]
        return ["## Other findings about one rank in clean runs", "",
                "These findings say what happened on a rank (for example, that single steps took longer); they do not call it slow.", "",
                *(lines or ["None."])]

    def text(self, today):
        parts = (self.requirements(), self.clean_table(), self.fault_table(), self.waits_table(), self.missed(), self.mentioned())
        lines = ["# Verdicts on plain PyTorch programs", "", *self.head(today)]
        for part in parts:
            lines += ["", *part]
        return "\n".join(lines) + "\n"


def met(runs, well):
    return ("yes" if well else "**no**") if runs else "no runs"


def share_of(part, whole):
    return f"{part} of {whole}"


def has_function(verdict):
    return verdict.names == NAMED and verdict.function == HIT


def in_three(ratios):
    return f"{min(ratios):.2f}, {statistics.median(ratios):.2f}, {max(ratios):.2f}" if ratios else "–"
