"""What the sections of scripts/gpu-check work with: programs of the bundle, run in time, and what they recorded."""
import contextlib
import dataclasses
import json
import pathlib
import sqlite3

from gpu_compare import Check, load
from gpu_machine import NOT_STARTED, Machine
from gpu_page import Results

CUDA_PROGRAM = "kernels"  # of the bundle, or compiled on the machine
ONE_RANK = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}  # so that nothing has to be guessed
READS_S = 8  # must be left for a program that reads a recording


class Ends(Exception):
    """A section cannot go on; its last check says why."""

    def __init__(self, check):
        super().__init__(check.what)
        self.check = check


def failed(what, outcome):
    """A check of a program that is not ok."""
    return Check(what, None if outcome.end == NOT_STARTED else False, outcome.why)


def blame(what, recorded, session, plain):
    """A check of a program that failed under the recorder: is it ours? `plain` runs it without, in a session that has time."""
    if recorded.end == NOT_STARTED:
        return failed(what, recorded)
    alone = plain(dataclasses.replace(session, machine=session.machine.until_end()))
    if alone.ok:
        return Check(what, False, f"it runs without the recorder, but not with it: {recorded.why}")
    if alone.end == NOT_STARTED:
        return Check(what, False, f"{recorded.why}; no time was left to see whether it runs without the recorder")
    return Check(what, None, f"it does not run without the recorder, either: {alone.why}")


def must(check):
    """What every machine with a GPU can do: a program that does not even run alone is a failure, too."""
    return dataclasses.replace(check, passed=False) if check.passed is None and check.said != "no time was left" else check


@dataclasses.dataclass
class Session:
    machine: Machine
    bundle: pathlib.Path
    results: Results
    cupti: str = ""  # libcupti for the CUDA program, where it finds none by itself: all others are recorded as users record them
    import_s: float = 0  # that the first import of torch took: on a slow file system, each process needs as long

    def environment(self, command):
        """Of a program that has one rank."""
        is_cuda = any(pathlib.Path(str(word)).name == CUDA_PROGRAM for word in command)
        return {**ONE_RANK, "RANKSCOPE_CUPTI": self.cupti} if self.cupti and is_cuda else ONE_RANK

    def within(self, seconds):
        return dataclasses.replace(self, machine=self.machine.within(seconds))

    def limit(self, seconds):
        """Of a program that imports torch in two processes at a time, and needs `seconds` at most for the rest."""
        return seconds + 2 * self.import_s

    def rankscope(self, *words, **more):
        return self.machine.run(self.bundle / "bin/rankscope", *words, **more)

    def read(self, *words, seconds=60):
        """rankscope with a recording that is there: also when the share of the section is spent, for nothing is found else."""
        return self.machine.until_end().run(self.bundle / "bin/rankscope", *words, seconds=seconds, least=READS_S)

    def record(self, name, options, command, **more):
        """(recording, outcome). Programs run in the bundle's folder."""
        recording = self.machine.folder / f"{name}.rankscope"
        more.setdefault("env", self.environment(command))
        return recording, self.rankscope("record", "--out", recording, *options, "--", *command, folder=self.bundle, **more)

    def plain(self, command, **more):
        more.setdefault("env", self.environment(command))
        return self.machine.run(*command, folder=self.bundle, **more)

    def report(self, recording):
        outcome = self.read("report", recording, "--json", "-", seconds=90)
        if outcome.status not in (0, 4):
            raise Ends(failed(f"the report of {recording.name} can be read", outcome))
        return json.loads(outcome.out)

    def quality(self, recording, report=None):
        """What the report says is missing or was lost."""
        rows = (report or self.report(recording)).get("data_quality", [])
        bad = [f"{row['counter']} {row['value']}" for row in rows if row["severity"] != "info"] if isinstance(rows, list) else [str(rows)]
        return Check(f"no data was lost and no error was counted ({recording.stem})", not bad, ", ".join(bad) or "all counters of losses and errors are 0")

    @staticmethod
    def matched(report):
        """(collectives that are matched, those that are not)."""
        told = report.get("collectives")
        return (told.get("matched", 0), told.get("unmatched", 0)) if isinstance(told, dict) else (0, 0)

    @staticmethod
    def count(report, counter):
        """A counter of its data quality."""
        rows = report.get("data_quality", [])
        return sum(row["value"] for row in rows if row["counter"] == counter) if isinstance(rows, list) else 0

    def gpu_work(self, recording):
        """Its kernels, copies and fills."""
        trace = self.machine.folder / f"{recording.name}.json"
        outcome = self.read("export", recording, "--to", "kineto", trace)
        if not outcome.ok:
            raise Ends(failed(f"{recording.name} can be exported", outcome))
        return load(trace)

    def database(self, recording):
        path = self.machine.folder / f"{recording.name}.sqlite"
        if path.exists():
            return Database(path)
        outcome = self.read("export", recording, "--to", "sqlite", path)
        if not outcome.ok:
            raise Ends(failed(f"{recording.name} can be exported to SQLite", outcome))
        return Database(path)

    def keep(self, recording, name):
        """Packs it into the results; a check only if that failed."""
        target = self.results.path(f"{name}.rankscope.tar.zst")
        target.unlink(missing_ok=True)
        outcome = self.read("pack", recording, target)
        self.results.enforce()
        return [] if outcome.ok else [failed(f"{recording.name} can be packed", outcome)]


class Database:
    """A recording as `rankscope export --to sqlite` writes it."""

    def __init__(self, path):
        self._path = path

    def _rows(self, statement, *values):
        with contextlib.closing(sqlite3.connect(self._path)) as connection:
            return connection.execute(statement, values).fetchall()

    def spans(self, kind, name="%"):
        """(begin, end, name) by begin, of a kind, with a name that is LIKE this."""
        return self._rows("SELECT begin_ns, begin_ns + duration_ns, name FROM span_list WHERE kind = ? AND name LIKE ? ORDER BY begin_ns", kind, name)

    def samples(self, name):
        """(time, value) of the counters whose names are LIKE this, by time."""
        return self._rows("SELECT time_ns, value FROM samples JOIN counters ON counters.id = counter_id JOIN strings ON strings.id = name_id "
                          "WHERE text LIKE ? ORDER BY time_ns", name)

    def counters(self):
        """{name: values}."""
        found = {}
        for name, value in self._rows("SELECT text, value FROM samples JOIN counters ON counters.id = counter_id JOIN strings ON strings.id = name_id"):
            found.setdefault(name, []).append(value)
        return found

    def metadata(self, key):
        return [row[0] for row in self._rows("SELECT value.text FROM process_metadata JOIN strings AS key ON key.id = key_id "
                                             "JOIN strings AS value ON value.id = value_id WHERE key.text = ?", key)]

    def metadata_behind(self, prefix):
        """{rest of the key: value} of the keys that begin so."""
        rows = self._rows("SELECT key.text, value.text FROM process_metadata JOIN strings AS key ON key.id = key_id "
                          "JOIN strings AS value ON value.id = value_id")
        return {key.removeprefix(prefix): value for key, value in rows if key.startswith(prefix)}

    def marks(self, name):
        return self._rows("SELECT count(*) FROM marks JOIN strings ON strings.id = name_id WHERE text = ?", name)[0][0]

    def collectives(self):
        """(group, sequence, bytes, operation) of what NCCL's own events tell."""
        return self._rows("SELECT named.text, collectives.sequence, collectives.bytes, op.text FROM collectives "
                          "LEFT JOIN groups ON groups.id = collectives.group_id LEFT JOIN strings AS named ON named.id = groups.name_id "
                          "LEFT JOIN strings AS op ON op.id = collectives.op_id WHERE op.text NOT IN ('send', 'recv')")

    def timed_collectives(self):
        """(those that have times, all)."""
        return self._rows("SELECT count(finished_ns), count(*) FROM collectives")[0]


def json_of(what, outcome):
    """What a program printed as JSON: all of its output, or the last line."""
    for text in (outcome.out, *reversed(outcome.out.splitlines())):
        with contextlib.suppress(ValueError):
            return json.loads(text)
    raise Ends(Check(what, False, f"it printed no result: {outcome.out[-200:]!r}"))
