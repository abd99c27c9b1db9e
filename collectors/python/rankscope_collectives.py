"""Reports to the recorder which process groups torch.distributed makes; it sees their operations itself.

The recorder stands in front of the C++ functions of the backend Gloo (collectors/src/inject/c10d). What it cannot know
is which group a backend belongs to: each new one is named here, with its members, and asked a question that does no
harm, by which the recorder learns its address. No Python runs per operation.
"""
import functools
import inspect
import sys

_RECORDED_BY_ITSELF = ("nccl",)  # NCCL's profiler interface tells its operations
_NO_DESCRIPTION = ("", "undefined")


def _name_of(group_name, description):
    return f"group {group_name}" if description in _NO_DESCRIPTION else f"{description} {group_name}"


def _asked(backend):
    """The backend and what is inside it: TORCH_DISTRIBUTED_DEBUG=DETAIL wraps each one."""
    while backend is not None:
        yield backend
        backend = getattr(backend, "wrapped_pg", None)


class Groups:
    """The groups of the process that were told."""

    def __init__(self, torch, c10d, table, tell):
        self.torch = torch
        self.c10d = c10d
        self.table = table
        self.tell = tell
        self.problem = table.c10d_observe(torch.__version__.encode())  # with Gloo; None: there is none
        self.warned = set()

    def told(self, group, ranks):
        """A group that this process is a member of; with one member nothing is communicated, and nothing is missing."""
        backends = [group._get_backend(device) for device in group._device_types]
        missed = backends if self.problem else self.missed(group, ranks, backends)
        if len(ranks) > 1:
            for backend in sorted({backend.name().lower() for backend in missed}):
                self.warn_of(backend)

    def missed(self, group, ranks, backends):
        """Those that the recorder did not meet. A wrapper counts as met when what it wraps was."""
        description = getattr(group, "group_desc", None) or ""
        name = _name_of(self.c10d._world.pg_names.get(group, group.group_name), description).encode()
        members = ",".join(str(rank) for rank in ranks).encode()
        return [outer for outer in backends if not any([self.meet(name, members, backend) for backend in _asked(outer)])]

    def meet(self, name, members, backend):
        self.table.c10d_group(name, members)
        try:
            backend._get_sequence_number_for_group()
        except Exception:  # pylint: disable=broad-except
            pass  # some backends do not count, and those of others may raise anything
        return self.table.c10d_group(None, None) == 1

    def warn_of(self, backend):
        if backend in self.warned or backend in _RECORDED_BY_ITSELF:
            return
        self.warned.add(backend)
        of_gloo = self.problem and backend == "gloo"
        self.tell(self.problem.decode() if of_gloo else f"collectives of the {backend} backend are not recorded")


def _after(function, action, guard):
    """function, and then action(its arguments by name, its result)."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        result = function(*args, **kwargs)
        guard(lambda: action(signature.bind(*args, **kwargs).arguments, result))
        return result

    return wrapped


def observe_groups(torch, table, tell, guard):
    """From now on each new group is told. guard(action) runs an action that must not disturb the program."""
    distributed = getattr(torch, "distributed", None)
    c10d = sys.modules.get("torch.distributed.distributed_c10d")
    if c10d is None or not distributed.is_available():
        return
    groups = Groups(torch, c10d, table, tell)

    def made(arguments, result):
        group, _ = result
        if not isinstance(group, c10d.ProcessGroup):
            return  # this process is no member
        groups.told(group, arguments["global_ranks_in_group"] or list(range(arguments["group_size"])))

    def split(_, group):
        if isinstance(group, c10d.ProcessGroup):
            groups.told(group, c10d.get_process_group_ranks(group))

    c10d._new_process_group_helper = _after(c10d._new_process_group_helper, made, guard)
    for name in ("split_group", "shrink_group"):
        theirs = getattr(c10d, name, None)
        if theirs is None:
            continue
        ours = _after(theirs, split, guard)
        for module in [c10d, distributed, sys.modules.get("torch.distributed.device_mesh")]:
            if getattr(module, name, None) is theirs:
                setattr(module, name, ours)
