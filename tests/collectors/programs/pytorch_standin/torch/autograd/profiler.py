"""One profiler per thread, as PyTorch has it."""
_is_profiler_enabled = False
running = None


def _enable_profiler(config, activities):
    global running
    if running is not None:
        raise RuntimeError("Profiler is already enabled on this thread")
    running = config
    print("enable", config)


def _disable_profiler():
    global running
    print("disable", running)
    running = None


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
