"""Runs programs for scripts/gpu-check, each within its time, and leaves no process of theirs behind."""
import ctypes
import os
import pathlib
import signal
import subprocess
import tempfile
import time

_PR_SET_CHILD_SUBREAPER = 36
_LAST_WORDS_S = 10  # for a killed program to be gone: it may hang in the driver


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


def descendants(pid):
    """Of any generation, in any session."""
    children, found = _children(), []
    waiting = list(children.get(pid, []))
    while waiting:
        one = waiting.pop()
        found.append(one)
        waiting += children.get(one, [])
    return found


def _adopt_orphans():
    """What outlives its parent becomes a child of this process, so that it can still be found."""
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _reap_all():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass


def stop_all():
    """Kills what this process has started, until nothing of it is left or it does not die."""
    until = time.monotonic() + _LAST_WORDS_S
    while (left := descendants(os.getpid())) and time.monotonic() < until:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.05)
        _reap_all()


class Machine:
    """Runs one program at a time within what is left until `deadline` (time.monotonic), in `folder`."""

    def __init__(self, folder, deadline):
        self.folder, self.deadline = folder, deadline

    def run(self, *words, seconds=120, env=None):
        """Status (None: no time), standard output, and the end of standard error. Nothing that it started runs on: workers
        of torchrun have sessions of their own. Output goes through files, for which nobody has to wait."""
        left = min(seconds, self.deadline - time.monotonic())
        if left < 1:
            return None, "", "the time was up"
        _adopt_orphans()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen([str(word) for word in words], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       env={**os.environ, **(env or {})}, start_new_session=True)
            try:
                status = process.wait(timeout=left)
            except subprocess.TimeoutExpired:
                status = None
            stop_all()
            process.poll()  # it may have been reaped with the others
            said, complained = (_text_of(file) for file in (out, err))
        return status, said, complained[-8000:] if status is not None else f"stopped after {left:.0f} s: {complained[-600:]}"


def _text_of(file):
    file.seek(0)
    return file.read().decode(errors="replace")
