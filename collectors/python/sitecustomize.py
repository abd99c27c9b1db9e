"""First on the module path of recorded Python programs: lets rankscope into those that import PyTorch.

Takes itself out of the module path, waits for torch, and runs the sitecustomize that would have been found without it.
What goes wrong here is none of the program's business: it runs as if it were not recorded, and `record` says at its end
that no operators were.
"""
import os
import sys
from _thread import get_ident


class _TorchFinder:
    """Steps aside when torch is looked for, and has rankscope_pytorch.py observe it when its import has ended."""

    def __init__(self, folder):
        self.folder = folder
        self.looking = set()  # threads for which the other finders look

    def find_spec(self, name, path=None, target=None):  # pylint: disable=unused-argument
        if name != "torch" or get_ident() in self.looking:
            return None
        from importlib.util import find_spec

        thread = get_ident()
        self.looking.add(thread)
        try:
            spec = find_spec(name)
        finally:
            self.looking.discard(thread)
        self.wait_for(getattr(spec, "loader", None))
        return spec

    def wait_for(self, loader):
        """To be looked for is not to be imported: this loader may never be used, and there may be another one."""
        own = getattr(loader, "__dict__", None)
        if own is None or isinstance(loader, type) or not hasattr(loader, "exec_module"):
            return  # of a kind that cannot be followed
        others, execute = own.get("exec_module"), loader.exec_module

        def exec_module(module):
            own.pop("exec_module", None)
            if others is not None:
                own["exec_module"] = others
            execute(module)
            self.imported(module)

        own["exec_module"] = exec_module

    def imported(self, torch):
        if self not in sys.meta_path:
            return  # once is enough
        sys.meta_path.remove(self)
        from importlib.util import module_from_spec, spec_from_file_location

        try:
            spec = spec_from_file_location("rankscope_pytorch", os.path.join(self.folder, "rankscope_pytorch.py"))
            module = module_from_spec(spec)
            spec.loader.exec_module(module)
            module.observe(torch)
        except Exception:  # pylint: disable=broad-except
            pass  # without ctypes, say: there is nobody to tell it to


def _wait_for_torch(folder):
    """A recording inside another one leaves torch to that which comes first."""
    if not any(type(finder).__name__ == _TorchFinder.__name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, _TorchFinder(folder))


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


_folder = os.path.dirname(__file__)
sys.path[:] = [entry for entry in sys.path if entry != _folder]
try:
    if sys.version_info >= (3, 8) and os.environ.get("RANKSCOPE_SEGMENTS"):
        _wait_for_torch(_folder)
finally:
    _run_the_other()
