"""Samples the current line of the user's code, on the training thread and in the loader workers that it forks.

About 20 times per second, at irregular intervals, a separate thread looks at the stack of the training thread. It marks
the innermost line that belongs neither to PyTorch nor to Python's library, such as "Tokens.__getitem__ data.py:31",
with the time since the previous sample. Workers sample themselves less often, and write their samples into a pipe, so
that they need no recording of their own. Long pauses of the garbage collector are marked, too. Nothing runs per line or
call of the program.
"""
import gc
import os
import random
import sys
import time
from _thread import get_ident, start_new_thread

_DISTANCE_S = 0.05
_WORKERS_DISTANCE_S = 0.15
_LEAST_PAUSE_NS = 1_000_000
_BECOMES_WORKER_NS = 2_000_000_000  # a child of a fork that is none by then never will be
_WORKER_LOOP = os.path.join("torch", "utils", "data", "_utils", "worker.py")
_NOWHERE = "?"
_END = b"samples end here"
_MOST_CHARACTERS = 200
_dice = random.Random()  # of its own: the program's sequence of random numbers stays


def _wait(distance):
    """Sleeps for an irregular time, so that samples do not follow a rhythm of the program."""
    time.sleep(distance * _dice.uniform(0.5, 1.5))


class _Places:
    """Finds and names the innermost line of the user's code in a stack."""

    def __init__(self, torch):
        folders = [os.path.dirname(file) + os.sep for file in (torch.__file__, os.__file__, __file__)]
        self.library = (*folders, "<frozen")
        self.ranks = {}  # 0: the user's, 1: of an installed package, 2: of Python or PyTorch
        self.names = {}

    def rank_of(self, file):
        rank = self.ranks.get(file)
        if rank is None:
            installed = f"{os.sep}site-packages{os.sep}" in file or f"{os.sep}dist-packages{os.sep}" in file
            rank = 1 if installed or file.startswith("<") else 0
            if file.startswith(self.library[0]) or (not installed and file.startswith(self.library[1:])):
                rank = 2
            self.ranks[file] = rank
        return rank

    def of(self, frame, last=None):
        """Searches from `frame` outwards, up to the file `last`. If no frame is the user's, takes one of a package."""
        packages = None
        while frame is not None:
            file = frame.f_code.co_filename
            if last is not None and file.endswith(last):
                break
            rank = self.rank_of(file)
            if rank == 0:
                return self.name_of(frame)
            if rank == 1 and packages is None:
                packages = frame
            frame = frame.f_back
        return _NOWHERE if packages is None else self.name_of(packages)

    def name_of(self, frame):
        code = frame.f_code
        key = (code.co_filename, code.co_name, code.co_firstlineno, frame.f_lineno)
        name = self.names.get(key)
        if name is None:
            function = getattr(code, "co_qualname", code.co_name)[:_MOST_CHARACTERS]  # with its class from 3.11 on
            file = os.path.basename(code.co_filename)[:_MOST_CHARACTERS]
            name = self.names[key] = f"{function} {file}:{frame.f_lineno}"
        return name


class _Pipe:
    """Carries samples from the workers to the process that forked them. Neither side ever waits for the other."""

    def __init__(self):
        self.reads, self.writes = os.pipe()
        os.set_blocking(self.reads, False)
        os.set_blocking(self.writes, False)
        self.inode = os.fstat(self.writes).st_ino
        self.rest = b""

    def is_open(self, end):
        """False if the program has closed this file, even if it has then opened another file under the same number."""
        try:
            return os.fstat(end).st_ino == self.inode
        except OSError:
            return False

    def close(self, end):
        """Closes this end, but never a file that the program has opened under the same number."""
        if self.is_open(end):
            os.close(end)

    def write(self, line):
        try:
            if self.is_open(self.writes):
                os.write(self.writes, line)  # short ones arrive whole
        except OSError:
            pass  # nobody reads: a sample is lost

    def lines(self):
        try:
            read = os.read(self.reads, 65536) if self.is_open(self.reads) else b""
        except OSError:
            return []
        *lines, self.rest = (self.rest + read).split(b"\n")
        return lines


class Sampler:
    """Samples one process, from its first step or its first backward() on."""

    def __init__(self, torch, table, guard):
        self.table = table
        self.guard = guard
        self.places = _Places(torch)
        self.thread = None  # the one that trains
        self.pipe = None
        self.to_parent = None  # of a process that was forked
        self.pause_began = 0
        os.register_at_fork(before=lambda: guard(self.make_pipe), after_in_child=lambda: guard(self.sample_child))

    def follows(self):
        return self.thread is not None

    def follow(self, thread):
        """Samples this thread from now on: it is the one that trains."""
        begun, self.thread = self.thread is not None, thread
        if begun:
            return
        if self.collected not in gc.callbacks:
            gc.callbacks.append(self.collected)
        start_new_thread(self.guard, (self.sample_stacks,))

    def stop(self):
        self.thread = None

    def sample_stacks(self):
        """Samples until it is stopped or fails, and marks the end: nothing was sampled after that."""
        try:
            self.sample_until_stopped()
        finally:
            if self.table.is_recording():
                self.name_thread()
                self.table.mark(_END, len(_END))

    def name_thread(self):
        self.table.name_thread(b"python stacks")

    def sample_until_stopped(self):
        named, before = False, time.monotonic_ns()
        while True:
            _wait(_DISTANCE_S)
            if self.thread is None:
                return
            now = time.monotonic_ns()
            if self.table.is_recording():
                if not named:
                    self.name_thread()
                    named = True
                frame = sys._current_frames().get(self.thread)
                if frame is not None:
                    self.tell(self.places.of(frame).encode("utf-8", "replace"), now - before)
                del frame  # or what it holds would live longer
                self.tell_of_workers()
            before = now

    def tell(self, place, elapsed, worker=None):
        self.table.mark(place, len(place))
        self.table.mark_attribute_int(b"ns", elapsed)
        if worker is not None:
            self.table.mark_attribute_int(b"worker", worker)

    def tell_of_workers(self):
        if self.pipe is None:
            return
        for line in self.pipe.lines():
            sample = _sample_of(line)
            if sample is not None:
                worker, elapsed, place = sample
                self.tell(place, elapsed, worker)

    def make_pipe(self):
        if self.pipe is None:
            self.pipe = _Pipe()

    def sample_child(self):
        self.thread = None
        if self.to_parent is not None:
            self.to_parent.close(self.to_parent.writes)  # that of its parent
        pipe, self.pipe = self.pipe, None  # children of the child have one of their own
        self.to_parent = pipe
        if pipe is None:
            return
        pipe.close(pipe.reads)
        start_new_thread(self.guard, (self.sample_worker, get_ident(), pipe))

    def sample_worker(self, thread, pipe):
        try:
            self.sample_until_no_worker(thread, pipe)
        finally:
            pipe.close(pipe.writes)

    def sample_until_no_worker(self, thread, pipe):
        began = before = time.monotonic_ns()
        works = False
        while True:
            _wait(_WORKERS_DISTANCE_S)
            now = time.monotonic_ns()
            frame = sys._current_frames().get(thread)
            works = works or _is_inside(frame, _WORKER_LOOP)
            if frame is None or (not works and now - began > _BECOMES_WORKER_NS):
                return
            place = self.places.of(frame, _WORKER_LOOP) if works else _NOWHERE
            del frame
            if place != _NOWHERE:
                pipe.write(f"{os.getpid()} {now - before} {place}\n".encode("utf-8", "replace"))
            before = now

    def collected(self, phase, _):
        """Marks a pause when it is over, with its length, since most pauses are too short to be marked at all."""
        if get_ident() != self.thread:
            return
        now = time.monotonic_ns()
        if phase == "start":
            self.pause_began = now
        elif now - self.pause_began >= _LEAST_PAUSE_NS:
            self.table.mark(b"garbage collection", 18)
            self.table.mark_attribute_int(b"ns", now - self.pause_began)


def _sample_of(line):
    """Worker, time and place; None if the line is damaged, for example because the program wrote into the pipe."""
    parts = line.split(b" ", 2)
    if len(parts) == 3 and all(part.isdigit() and len(part) < 19 for part in parts[:2]):
        return int(parts[0]), int(parts[1]), parts[2]
    return None


def _is_inside(frame, file):
    while frame is not None:
        if frame.f_code.co_filename.endswith(file):
            return True
        frame = frame.f_back
    return False
