"""Stands in for PyTorch where that is not installed: the few functions the hook of --pytorch relies on, saying what is
called. The real ones are tested by tests/cli/pytorch_test.cpp. Odd builds, by variable: WITHOUT_ITT, WITHOUT_ITT_MODULE,
WITHOUT_MEMORY_STATS, REFUSING_ITT; STANDIN_LIBRARY: with torch.distributed."""
import os

from . import autograd, compiler, cuda, optim, profiler

__version__ = os.environ.get("STANDIN_VERSION", "2.11.0")
if "STANDIN_LIBRARY" in os.environ:
    from . import distributed
