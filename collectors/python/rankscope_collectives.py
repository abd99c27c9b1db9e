"""Reports to the recorder which process groups torch.distributed creates; the recorder itself sees their operations.

The recorder intercepts the C++ functions of the Gloo backend (collectors/src/inject/c10d), but does not know which
group a backend belongs to. Therefore, this module reports the name and the members of each new group, and then calls a
harmless function of its backend, from which the recorder learns the backend's address. No Python code runs per
operation.
"""
import functools
import inspect
import sys

_RECORDED_BY_ITSELF = ("nccl",)  # NCCL's profiler interface reports its operations
_NO_DESCRIPTION = ("", "undefined")


def _name_of(group_name, description):
    return f"group {group_name}" if description in _NO_DESCRIPTION else f"{description} {group_name}"


def _asked(backend):
    """Yields the backend and, if it is a wrapper (as with TORCH_DISTRIBUTED_DEBUG=DETAIL), the backend inside it."""
    while backend is not None:
        yield backend
        backend = getattr(backend, "wrapped_pg", None)


class Groups:
    """Reports to the recorder which groups this process has, and which backends the recorder cannot observe."""

    def __init__(self, torch, c10d, table, tell):
        self.torch = torch
        self.c10d = c10d
        self.table = table
        self.tell = tell
        self.problem = table.c10d_observe(torch.__version__.encode())  # with Gloo; None: there is none
        self.warned = set()

    def told(self, group, ranks):
        """Reports a group of this process. A group with one member communicates nothing, so nothing is missing."""
        backends = [group._get_backend(device) for device in group._device_types]
        missed = backends if self.problem else self.missed(group, ranks, backends)
        if len(ranks) > 1:
            for backend in sorted({backend.name().lower() for backend in missed}):
                self.warn_of(backend)

    def missed(self, group, ranks, backends):
        """The backends that the recorder did not see. A wrapper counts as seen if the backend inside it was seen."""
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
    """Wraps `function`: after each call, action(arguments by name, result) runs."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        result = function(*args, **kwargs)
        guard(lambda: action(signature.bind(*args, **kwargs).arguments, result))
        return result

    return wrapped


def observe_groups(torch, table, tell, guard):
    """Reports each group that is created from now on. guard(action) keeps errors of an action away from the program."""
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
