"""First on the module path of recorded Python programs: lets rankscope into those that import PyTorch.

Takes itself out of the module path, runs the sitecustomize that would have been found without it, and waits for torch.
"""
import os
import sys


def _run_the_other():
    """The sitecustomize of the user or the distribution, if there is one, takes this module's place."""
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


def _wait_for_torch(folder):
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("rankscope_pytorch", os.path.join(folder, "rankscope_pytorch.py"))
    module = module_from_spec(spec)
    sys.modules["rankscope_pytorch"] = module
    spec.loader.exec_module(module)
    module.wait_for_torch()


_folder = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != _folder]
if sys.version_info >= (3, 8) and os.environ.get("RANKSCOPE_SEGMENTS"):
    _wait_for_torch(_folder)
_run_the_other()
