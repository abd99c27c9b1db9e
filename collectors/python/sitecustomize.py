"""Starts rankscope's hook in recorded Python programs that import PyTorch; its folder is first on their module path.

This module takes its folder out of the module path, watches for the import of torch, and runs the sitecustomize module
that Python would have found otherwise. Errors here do not affect the program: it then runs without the hook, and
`record --pytorch` reports at the end that no operators were recorded.
"""
import os
import sys
from _thread import get_ident


class _TorchFinder:
    """Lets the other finders find torch, and starts rankscope_pytorch.py when the import of torch has ended."""

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
        """Waits until this loader executes torch. It may never do so: another loader may be used, or none."""
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
    """Installs the finder, unless a recorder around this one has already installed its own."""
    if not any(type(finder).__name__ == _TorchFinder.__name__ for finder in sys.meta_path):
        sys.meta_path.insert(0, _TorchFinder(folder))


def _run_the_other():
    """Runs the sitecustomize of the user or the distribution, if there is one, in place of this module."""
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
