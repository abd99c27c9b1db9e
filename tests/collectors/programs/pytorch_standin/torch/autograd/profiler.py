"""One profiler per thread, as PyTorch has it."""
import os
import threading

_is_profiler_enabled = False
_here = threading.local()


def running():
    return getattr(_here, "config", None)


def _enable_profiler(config, activities):
    if running() is not None:
        raise RuntimeError("Profiler is already enabled on this thread")
    if config == "itt" and "REFUSING_ITT" in os.environ:
        print("refuse itt")
        raise RuntimeError("ITT is off today")
    _here.config = config
    print("enable", config)


def _disable_profiler():
    print("disable", running())
    _here.config = None


def _set_is_profiler_enabled(enable):
    global _is_profiler_enabled
    _is_profiler_enabled = enable


def _run_on_profiler_start():
    _set_is_profiler_enabled(True)


def _run_on_profiler_stop():
    _set_is_profiler_enabled(False)


class emit_itt:
    config = "itt"

    def __enter__(self):
        _run_on_profiler_start()
        _enable_profiler(self.config, set())

    def __exit__(self, *_problem):
        _disable_profiler()
        _run_on_profiler_stop()


class profile(emit_itt):
    config = "kineto"
