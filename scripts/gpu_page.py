"""The results of scripts/gpu-check: its page, and the files that leave with it."""
import dataclasses
import re

MOST_FILES, MOST_BYTES = 8, 16 * 2**20


@dataclasses.dataclass
class Section:
    """What was checked together, and how much of its share of the time it took. Something of one that `must` be must pass, unless this
    machine cannot run it."""

    title: str
    checks: list
    must: bool = False
    seconds: float = 0.0
    share: float = 0.0

    @property
    def proves_nothing(self):
        return self.must and not any(check.passed for check in self.checks) and not (self.checks and all(check.excused for check in self.checks))


def device_slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower().replace("nvidia", "")).strip("-") or "unknown"


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ")


def verdict(sections):
    """Whether all is well, and a sentence."""
    checks = [check for section in sections for check in section.checks]
    bad, open_ = (sum(check.passed is value for check in checks) for value in (False, None))
    said = f"{len(checks) - bad - open_} check{'' if len(checks) - bad - open_ == 1 else 's'} passed, {bad} failed, {open_} could not be tried"
    empty = [section.title for section in sections if section.proves_nothing]
    if empty:
        said += "; nothing passed in: " + ", ".join(empty)
    return not bad and not empty, said


def page_of(facts, sections, notes=(), to_come=()):
    """The page docs/evidence/gpu-<device>.md: `facts` are pairs, `notes` say what became of files, `to_come` are titles of
    sections that have not been tried yet: the page is written again after each."""
    well, said = verdict(sections)
    lines = [f"# On {dict(facts).get('device', 'an unknown GPU')}", "",
             f"Written by `scripts/gpu-check` at commit {dict(facts).get('commit', 'unknown')}: {said}. Verdict: {'unfinished' if to_come else 'passed' if well else '**failed**'}.", "",
             "| | |", "|---|---|", *(f"| {key} | {cell(value)} |" for key, value in facts)]
    for section in sections:
        lines += ["", f"## {section.title}", "", f"Took {section.seconds:.0f} s of at most {section.share:.0f} s.", "",
                  "| check | | seen |", "|---|---|---|"]
        lines += [f"| {cell(check.what)} | {'**failed**' if check.passed is False else check.word} | {cell(check.said)} |" for check in section.checks]
    if notes or to_come:
        lines += ["", "## Files and what is missing", ""]
        lines += [f"- {note}" for note in notes] + [f"- not reached: {title}" for title in to_come]
    return "\n".join(lines) + "\n"


class Results:
    """Files of a folder, of which at most `MOST_FILES` of at most `MOST_BYTES` each stay. The first ones are never dropped for
    their number."""

    def __init__(self, folder, always):
        self.folder, self.always, self.notes, self._names = folder, list(always), [], list(always)
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, name):
        """Where a file of that name is to be written; it counts from now on."""
        if name not in self._names:
            self._names.append(name)
        return self.folder / name

    def remove(self, name):
        """One that another file stands for."""
        (self.folder / name).unlink(missing_ok=True)

    def enforce(self):
        for name in self._present():
            size = (self.folder / name).stat().st_size
            if size > MOST_BYTES:
                self._drop(name, f"it has {size / 2**20:.1f} MiB, more than {MOST_BYTES / 2**20:.0f}")
        while len(present := self._present()) > MOST_FILES:
            largest = max((name for name in present if name not in self.always), key=lambda name: (self.folder / name).stat().st_size)
            self._drop(largest, f"there are more than {MOST_FILES} files, and it is the largest")

    def _present(self):
        return [name for name in self._names if (self.folder / name).is_file()]

    def _drop(self, name, why):
        (self.folder / name).unlink()
        self.notes.append(f"`{name}` was dropped: {why}")
