"""Runs programs for scripts/gpu-check, each within its time, and stops every process that they started."""
import ctypes
import dataclasses
import json
import os
import pathlib
import shlex
import signal
import subprocess
import tempfile
import time
import traceback

_PR_SET_CHILD_SUBREAPER = 36
_LAST_WORDS_S = 10  # for a killed program to be gone: it may hang in the driver
_KEPT = 8000  # characters of standard error
LIMIT_S = 60  # of a program that usually takes a third of that at most

ENDED, STOPPED, NOT_STARTED = "ended", "stopped", "not started"
_aside = set()  # pids of helpers that run beside: they look after what they start


def _children():
    """{pid: pids of its children} of all processes here."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except (OSError, IndexError):
            continue  # it has ended meanwhile
        found.setdefault(parent, []).append(int(folder.name))
    return found


def descendants(pid, leave=()):
    """Of any generation, in any session; without those of `leave` and what they started."""
    children, found = _children(), []
    waiting = list(children.get(pid, []))
    while waiting:
        one = waiting.pop()
        if one in leave:
            continue
        found.append(one)
        waiting += children.get(one, [])
    return found


def _adopt_orphans():
    """What outlives its parent becomes a child of this process, so that it can still be found."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _reap(pids):
    for pid in pids:
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            pass  # not ours yet, or reaped


def stop_all(also_aside=False):
    """Kills what this process has started, until nothing of it is left or it does not die. Helpers aside only if asked."""
    if also_aside:
        _aside.clear()
    until = time.monotonic() + _LAST_WORDS_S
    while (left := descendants(os.getpid(), _aside)) and time.monotonic() < until:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)
        _reap(left)


@dataclasses.dataclass
class Outcome:
    """How a program ended: `status` only where it ended by itself."""

    end: str
    status: int | None = None
    out: str = ""
    err: str = ""
    seconds: float = 0.0

    @property
    def ok(self):
        return self.end == ENDED and self.status == 0

    @property
    def why(self):
        """Why it is not ok: the last line that names an error, else the end of what it said."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        named = [line for line in lines if "rror: " in line or (line.startswith("[rank") and "rror" in line)]
        said = (named or lines or [""])[-1][:300]
        if self.end == ENDED:
            return said if said and self.status is not None and self.status > 0 else f"status {self.status}: {said}".removesuffix(": ")
        return said if self.end == NOT_STARTED else f"stopped after {self.seconds:.0f} s: {said}".removesuffix(": ")


class Log:
    """A file with every command, how it ended, how long it took, and the end of what it said."""

    def __init__(self, path):
        self.path = path

    def add(self, words, env, outcome):
        if self.path is None:
            return
        set_to = "".join(f"{key}={shlex.quote(value)} " for key, value in (env or {}).items())
        with open(self.path, "a", encoding="utf-8", errors="replace") as file:
            file.write(f"== {time.strftime('%H:%M:%S')} {outcome.end}, status {outcome.status}, {outcome.seconds:.2f} s: "
                       f"{set_to}{shlex.join(str(word) for word in words)}\n")
            for name, text in (("out", outcome.out[-1000:]), ("err", outcome.err[-3000:])):
                file.writelines(f"{name}| {line}\n" for line in text.splitlines())


class Machine:
    """Runs one program at a time in `folder`: none is started after `deadline` (time.monotonic), none continues after `end`."""

    def __init__(self, folder, deadline, end=None, log=None):
        self.folder, self.deadline, self.end, self.log = folder, deadline, end or deadline, log or Log(None)

    def within(self, seconds):
        """The same machine for a part of the time."""
        return Machine(self.folder, min(time.monotonic() + seconds, self.deadline), self.end, self.log)

    def until_end(self):
        return Machine(self.folder, self.end, self.end, self.log)

    @property
    def left(self):
        return self.deadline - time.monotonic()

    @property
    def end_left(self):
        return self.end - time.monotonic()

    def run(self, *words, seconds=LIMIT_S, least=None, env=None, folder=None):
        """Its outcome, within `seconds`. It is not started behind the deadline, nor if less than `least` is left until the end, by
        default a third of `seconds`: one that is stopped did hang. Nothing that it started runs on: workers of torchrun have
        sessions of their own. Output goes through files, for which nobody has to wait."""
        least = seconds / 3 if least is None else least
        limit = min(seconds, self.end_left)
        if self.left <= 0 or limit < least:
            outcome = Outcome(NOT_STARTED, err="no time was left")
        else:
            outcome = self._run(words, limit, env, folder or self.folder)
        self.log.add(words, env, outcome)
        return outcome

    @staticmethod
    def _run(words, limit, env, folder):
        _adopt_orphans()
        began = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                process = subprocess.Popen([str(word) for word in words], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                           env={**os.environ, **(env or {})}, start_new_session=True)
            except OSError as problem:
                return Outcome(ENDED, 127, err=f"{words[0]} cannot be started: {problem.strerror}")
            try:
                end, status = ENDED, process.wait(timeout=limit)
            except subprocess.TimeoutExpired:
                end, status = STOPPED, None
            seconds = time.monotonic() - began
            stop_all()
            process.poll()  # it may have been reaped with the others
            return Outcome(end, status, _text_of(out), _text_of(err)[-_KEPT:], seconds)


def _text_of(file):
    file.seek(0)
    return file.read().decode(errors="replace")


class Aside:
    """Runs `function`, whose result is plain data, in a process of its own beside the programs of a Machine."""

    def __init__(self, function, folder=None):
        handle, self._path = tempfile.mkstemp(dir=folder)
        os.close(handle)
        self._pid = os.fork()
        if self._pid == 0:
            self._child(function)
        _aside.add(self._pid)

    def _child(self, function):
        status = 1
        try:
            _aside.clear()
            text = json.dumps(function())
            pathlib.Path(self._path).write_text(text)
            status = 0
        except BaseException:  # noqa: B036: nothing of it may run on in the copy of the caller
            traceback.print_exc()
        finally:
            os._exit(status)

    def result(self, seconds):
        """What it returned, or None: it failed, or was not ready within `seconds` and is stopped."""
        until = time.monotonic() + seconds
        while os.waitpid(self._pid, os.WNOHANG)[0] == 0:
            if time.monotonic() > until:
                for pid in (*descendants(self._pid), self._pid):
                    try:
                        os.kill(pid, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                os.waitpid(self._pid, 0)
                break
            time.sleep(0.02)
        _aside.discard(self._pid)
        text = pathlib.Path(self._path).read_text()
        os.unlink(self._path)
        return json.loads(text) if text else None
