"""What `rankscope record` does inside a Python program that has imported torch; other programs do not load this module.

- Operators and record_function ranges: PyTorch's own hook for tracers (emit_itt) reports them on the thread that
  imported torch or that steps the optimizer, and on autograd's threads. The recorder receives these calls through ITT;
  no Python code runs per operator.
- Steps: reported after each step of the optimizer that stepped first; the recorder makes spans of them.
- Collectives: see rankscope_collectives.py.
- The current line of the user's code: sampled by rankscope_stacks.py, which is absent with --no-stacks.
- backward(): recorded as a range. The bytes of CUDA's caching allocator are recorded as counters, once per step.

While the program runs torch.profiler, operators are left to that profiler. CUPTI is not: if the recorder uses it, the
trace of torch.profiler contains no GPU work, and the recording says so. The program continues whatever happens here;
each problem is reported in the recording once.
"""
import atexit
import ctypes
import importlib
import importlib.util
import os
import threading
import weakref

_BACKWARD = 4  # rankscope::annotate::Kind::backward
_MOST_CHARACTERS = 400  # of one problem: messages of exceptions may be long
_MOST_PROBLEMS = 8  # what is longer than 4000 bytes is cut in a recording


def _function(*types):
    return ctypes.PYFUNCTYPE(None, *types)


class _Table(ctypes.Structure):
    """rankscope_api_v1 (annotate_table.h)."""

    _fields_ = [
        ("version", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("push", _function(ctypes.c_uint8, ctypes.c_char_p, ctypes.c_uint32)),
        ("pop", _function()),
        ("mark", _function(ctypes.c_char_p, ctypes.c_uint32)),
        ("attribute_int", ctypes.c_void_p),
        ("attribute_text", ctypes.c_void_p),
        ("counter", _function(ctypes.c_char_p, ctypes.c_double)),
        ("collective_enqueued", ctypes.c_void_p),
        ("collective_started", ctypes.c_void_p),
        ("collective_finished", ctypes.c_void_p),
        ("name_thread", _function(ctypes.c_char_p)),
        ("metadata", _function(ctypes.c_char_p, ctypes.c_char_p)),
        ("is_recording", ctypes.PYFUNCTYPE(ctypes.c_int)),
        ("details", ctypes.c_void_p),
        ("attribute_json", ctypes.c_void_p),
        ("mark_attribute_int", _function(ctypes.c_char_p, ctypes.c_int64)),
        ("optimizer_stepped", _function(ctypes.c_int64)),
        ("c10d_observe", ctypes.PYFUNCTYPE(ctypes.c_char_p, ctypes.c_char_p)),
        ("c10d_group", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p)),
        ("holds_cupti", ctypes.PYFUNCTYPE(ctypes.c_int)),
    ]


def _recorder():
    """The recorder's table; None if this process is not recorded."""
    library = ctypes.CDLL(os.environ["RANKSCOPE_INJECT_LIB"])
    library.rankscope_api.restype = ctypes.POINTER(_Table)
    table = library.rankscope_api()
    return table.contents if table and table.contents.size >= ctypes.sizeof(_Table) else None


def _path_beside(name):
    return os.path.join(os.path.dirname(__file__), name + ".py")


def _beside(name):
    """Loads a module of this folder, which is not on the module path."""
    spec = importlib.util.spec_from_file_location(name, _path_beside(name))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_told = []
_collectives_told = []  # the first problem because of which collectives are not recorded


def _tell(table, problem, hides_collectives=False):
    """Puts all problems of the process into one metadata entry, which `record` prints; "…" marks what is cut."""
    if len(problem) > _MOST_CHARACTERS:
        problem = problem[:_MOST_CHARACTERS - 1] + "…"
    if problem in _told:
        return
    _told.append(problem)
    more = len(_told) - _MOST_PROBLEMS
    text = "; ".join(_told[:_MOST_PROBLEMS] + [f"and {more} more"] * (more > 0))
    table.metadata(b"pytorch_problem", text.encode("utf-8", "replace"))
    if hides_collectives and not _collectives_told:
        _collectives_told.append(problem)
        table.metadata(b"pytorch_collectives_problem", problem.encode("utf-8", "replace"))


class _Observer:
    def __init__(self, torch, table):
        self.torch = torch
        self.table = table
        self.profiler = torch.autograd.profiler
        self.here = threading.local()  # .ranges: what observes this thread; .other: the program's own profiler has it
        self.observes_operators = False
        self.failed = set()  # names of actions
        self.leader = None  # the optimizer whose steps are the program's
        self.steps = 0
        self.stacks = None

    def quietly(self, action, *arguments, hides_collectives=False):
        try:
            action(*arguments)
        except Exception as problem:  # pylint: disable=broad-except
            self.failed.add(action.__name__)
            _tell(self.table, f"could not {action.__name__.replace('_', ' ')}: {type(problem).__name__}: {problem}",
                  hides_collectives)

    def unless_failed(self, action, *arguments):
        """Runs an action, unless it has failed before."""
        if action.__name__ not in self.failed:
            self.quietly(action, *arguments)

    def observe_operators(self):
        here, profiler = self.here, self.profiler
        if not self.observes_operators or getattr(here, "ranges", None) is not None or getattr(here, "other", False):
            return
        was_enabled, ranges = profiler._is_profiler_enabled, profiler.emit_itt()
        here.ours = True  # the call that comes now is not the program's
        try:
            ranges.__enter__()
            here.ranges = ranges
        except BaseException:
            profiler._set_is_profiler_enabled(was_enabled)
            raise
        finally:
            here.ours = False

    def stop_observing_operators(self):
        here = self.here
        if getattr(here, "ranges", None) is None:
            return
        ranges, here.ranges = here.ranges, None
        here.ours = True
        try:
            ranges.__exit__(None, None, None)
        finally:
            here.ours = False

    def give_way_to_profilers(self):
        """torch allows one profiler per thread: the recorder stops observing while a profiler of the program runs."""
        profiler, here = self.profiler, self.here
        enable, disable, stop = profiler._enable_profiler, profiler._disable_profiler, profiler._run_on_profiler_stop

        def enable_profiler(*args, **kwargs):
            if getattr(here, "ours", False) or getattr(here, "other", False):
                return enable(*args, **kwargs)
            here.observed = getattr(here, "ranges", None) is not None
            self.quietly(self.stop_observing_operators)
            here.other = True
            try:
                started = enable(*args, **kwargs)
            except BaseException:
                self.resume_observing_operators()
                raise
            self.unless_failed(self.report_missing_gpu_work, *args[1:2])
            return started

        def disable_profiler():
            try:
                return disable()
            finally:
                if getattr(here, "other", False):
                    self.resume_observing_operators()

        def run_on_profiler_stop():
            stop()
            if getattr(here, "ranges", None) is not None:
                profiler._set_is_profiler_enabled(True)

        profiler._enable_profiler = enable_profiler
        profiler._disable_profiler = disable_profiler
        profiler._run_on_profiler_stop = run_on_profiler_stop

    def report_missing_gpu_work(self, activities=()):
        """Only one profiler per process can use CUPTI: if that is the recorder, the trace of torch.profiler contains no
        kernels or copies, and the recording says so."""
        if any(getattr(one, "name", "") == "CUDA" for one in activities) and self.table.holds_cupti():
            self.table.metadata(b"torch_profiler_without_gpu", b"the recorder uses CUPTI")

    def resume_observing_operators(self):
        """Observes this thread again if it was observed before the program's profiler started."""
        self.here.other = False
        if self.here.observed:
            self.unless_failed(self.observe_operators)

    def observe_steps(self):
        is_compiling = self.torch.compiler.is_compiling

        def stepped(optimizer, _args, _kwargs):
            if not is_compiling():  # else it is being traced, not run
                self.unless_failed(self.end_step, optimizer)

        importlib.import_module("torch.optim.optimizer").register_optimizer_step_post_hook(stepped)
        # What follows the last step, up to the end of the program, is none.
        atexit.register(self.table.optimizer_stepped, -1)

    def end_step(self, optimizer):
        leader = self.leader and self.leader()
        if leader is None:
            self.leader = weakref.ref(optimizer)
        elif leader is not optimizer:
            return
        self.table.optimizer_stepped(self.steps)
        self.steps += 1
        if self.stacks is not None:
            self.stacks.follow(threading.get_ident())
        self.unless_failed(self.observe_operators)  # another thread may train than the one that imported torch
        self.unless_failed(self.count_memory)

    def count_memory(self):
        cuda = self.torch.cuda
        if not cuda.is_initialized() or not self.table.is_recording():
            return
        told = cuda.memory.memory_stats_as_nested_dict()
        for name, key, which in ((b"allocated_bytes", "allocated_bytes", "current"),
                                 (b"peak_allocated_bytes", "allocated_bytes", "peak"),
                                 (b"reserved_bytes", "reserved_bytes", "current")):
            self.table.counter(name, float(told[key]["all"][which]))

    def observe_backward(self):
        autograd, table = self.torch.autograd, self.table
        run, is_compiling = autograd._engine_run_backward, self.torch.compiler.is_compiling

        def run_backward(*args, **kwargs):
            if is_compiling():
                return run(*args, **kwargs)
            self.unless_failed(self.find_training_thread)
            table.push(_BACKWARD, b"backward", 8)
            try:
                return run(*args, **kwargs)
            finally:
                table.pop()

        autograd._engine_run_backward = run_backward

    def find_training_thread(self):
        """For a program that updates its weights without an optimizer: samples the thread that calls backward()."""
        if self.stacks is not None and not self.stacks.follows():
            self.stacks.follow(threading.get_ident())

    def start_observing_operators(self):
        self.give_way_to_profilers()
        itt = getattr(getattr(self.torch, "profiler", None), "itt", None)
        if itt is None or not itt.is_available():
            _tell(self.table, "this PyTorch was built without ITT, so its operators are not recorded")
            return
        self.observes_operators = True
        self.unless_failed(self.observe_operators)
        # The children of a fork are loader workers and the like; they have nothing to do with the steps.
        atexit.register(self.quietly, self.stop_observing_operators)
        os.register_at_fork(after_in_child=lambda: self.quietly(self.stop_observing_operators))

    def observe_collectives(self):
        def name_group(action):
            action()

        _beside("rankscope_collectives").observe_groups(
            self.torch, self.table, lambda problem: _tell(self.table, problem, hides_collectives=True),
            # Tried again for the next group, which may be of another kind.
            lambda action: self.quietly(name_group, action, hides_collectives=True))

    def sample_stacks(self):
        if not os.path.exists(_path_beside("rankscope_stacks")):
            return  # --no-stacks
        stacks = _beside("rankscope_stacks").Sampler(self.torch, self.table, self.unless_failed)
        atexit.register(stacks.stop)
        self.stacks = stacks

    def begin(self):
        self.quietly(self.observe_steps)
        self.quietly(self.sample_stacks)
        self.quietly(self.observe_collectives, hides_collectives=True)
        self.quietly(self.observe_backward)
        self.quietly(self.start_observing_operators)


def observe(torch):
    """Starts to observe torch, whose import has just ended, if this process has a recorder."""
    try:
        table = _recorder()
    except (KeyError, OSError, AttributeError):
        return  # RANKSCOPE_INJECT_LIB is gone: a child that is not to be followed
    if table is None:
        return
    try:
        _Observer(torch, table).begin()
    except Exception as problem:  # pylint: disable=broad-except
        _tell(table, f"could not observe torch: {type(problem).__name__}: {problem}")
