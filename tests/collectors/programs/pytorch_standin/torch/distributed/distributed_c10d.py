"""As much of the real module as the hook of --pytorch relies on. This process is rank 0."""
import ctypes
import os
import types

_library = ctypes.CDLL(os.environ["STANDIN_LIBRARY"])
_library.standin_make.restype = ctypes.c_void_p
_world = types.SimpleNamespace(pg_names={})


class Gloo:
    def __init__(self):
        self.address = ctypes.c_void_p(_library.standin_make())

    def name(self):
        return "gloo"

    def _get_sequence_number_for_group(self):
        return _library.standin_sequence(self.address)

    def allreduce(self):
        _library.standin_allreduce(self.address)


class Mpi:
    def name(self):
        return "mpi"

    def _get_sequence_number_for_group(self):
        raise RuntimeError("Backend mpi does not yet support sequence numbers.")


class Nccl:
    def name(self):
        return "nccl"

    def _get_sequence_number_for_group(self):
        return 42


class Exotic:
    def name(self):
        return "exotic"

    def _get_sequence_number_for_group(self):
        raise AttributeError("no sequence number")


class ProcessGroup:
    def __init__(self, backend, name, description):
        self.backend = backend
        self.group_name = name
        self.group_desc = description
        self._device_types = ["cpu", "cuda"]

    def _get_backend(self, _device):
        return self.backend


_BACKENDS = {"gloo": Gloo, "mpi": Mpi, "nccl": Nccl, "exotic": Exotic}


def _new_process_group_helper(group_size, group_rank, global_ranks_in_group, backend, store, group_name, group_desc=None):
    if global_ranks_in_group and 0 not in global_ranks_in_group:
        return object(), None
    group = ProcessGroup(_BACKENDS[backend](), group_name, group_desc or "undefined")
    _world.pg_names[group] = group_name
    return group, store


def init_process_group(backend, size):
    group, _ = _new_process_group_helper(size, 0, [], backend, None, "0", group_desc="default_pg")
    return group


def new_group(ranks, group_desc=None, backend="gloo"):
    group, _ = _new_process_group_helper(len(ranks), 0, ranks, backend, None, str(len(_world.pg_names)), group_desc=group_desc)
    return group
