"""What goes wrong on one rank of the training scripts in this folder, and what their own clocks saw. Plain Python."""
import argparse
import contextlib
import gc
import json
import os
import socket
import stat
import struct
import time

KINDS = ("none", "sleep", "loader", "compute", "batch", "gc", "link")
SO_MAX_PACING_RATE = 47  # of Linux; not in the module socket
BEFORE_PROFILE = 5  # steps, of which the last two warm up the profiler


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=KINDS, default="none")
    parser.add_argument("--rank", type=int, default=0, help="the rank on which it goes wrong")
    parser.add_argument("--ms", type=float, default=40)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--pace", type=float, default=50, help="ms that an accelerator would work in each step")
    parser.add_argument("--workers", type=int, default=0, help="of the DataLoader")
    parser.add_argument("--clocks", required=True, help="folder for what each rank's clock saw")
    parser.add_argument("--profile", default="", help="folder for the traces of torch.profiler, which records all but the first steps")
    return parser.parse_args()


def profiler(torch, chosen, rank):
    """As in the documentation of torch.profiler; without --profile something that does nothing."""
    if not chosen.profile:
        return contextlib.nullcontext()
    cycle = torch.profiler.schedule(wait=BEFORE_PROFILE - 2, warmup=2, active=chosen.steps - BEFORE_PROFILE, repeat=1)

    def save(done):
        done.export_chrome_trace(os.path.join(chosen.profile, f"rank{rank}.json"))

    return torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], schedule=cycle, on_trace_ready=save)


def end_step(profile):
    if profile:
        profile.step()


class Fault:
    def __init__(self, chosen, rank):
        self.kind = chosen.fault if rank == chosen.rank else "none"
        self.seconds = chosen.ms / 1e3
        self.pace = chosen.pace / 1e3
        self.workers = chosen.workers
        self.copies = 0
        self.step = 0
        if self.kind == "gc":
            self.garbage = [[number] for number in range(30_000)]

    def load(self, samples):
        """In __getitem__ of the data set, of which a step needs that many; workers load while a step runs."""
        if self.kind == "loader":
            time.sleep((self.workers * (self.pace + self.seconds) if self.workers else self.seconds) / samples)

    def work(self, parts=1):
        """In each step, before forward; of a step in several parts, in each of these."""
        self.step += 1
        time.sleep(self.pace / parts)
        if self.kind == "sleep":
            time.sleep(self.seconds / parts)
        if self.kind == "gc" and self.step % 10 == 0:
            end = time.monotonic() + 5 * self.seconds
            while time.monotonic() < end:
                gc.collect()

    def fit_batch(self, train):
        """Before training: how many copies of a batch take that much longer in train(copies)."""
        taken = 0
        while self.kind == "batch" and taken < self.seconds and self.copies < 4096:
            self.copies, began = 2 * self.copies or 16, time.thread_time()
            train(self.copies)
            taken = time.thread_time() - began

    def slow_link(self, model):
        """After the ranks have met: what this rank sends leaves as slowly as over a bad link, the gradients in the time lost."""
        if self.kind != "link":
            return
        rate = struct.pack("I", int(sum(4 * weights.numel() for weights in model.parameters()) / self.seconds))
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):
                if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                    with socket.socket(fileno=os.dup(int(name))) as connection:
                        connection.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, rate)

    def batch(self, x, y):
        """A larger batch than the other ranks have."""
        return (x.repeat(self.copies, 1), y.repeat(self.copies)) if self.kind == "batch" else (x, y)

    def extra_layers(self, torch, x, parts=1):
        """In forward: more work, as of a larger share of the model."""
        if self.kind != "compute":
            return x
        weights, end = torch.ones(512, 512), time.thread_time() + self.seconds / parts
        while time.thread_time() < end:
            torch.mm(weights, weights)
        return x


class Clocks:
    """When this rank was ready to meet others in each step, in ns of the host's clock, and whom."""

    def __init__(self, folder, rank):
        self.path = os.path.join(folder, f"rank{rank}.json")
        self.met = []  # in this step
        self.steps = []

    def meet(self, *ranks):
        """Immediately before the call that waits for these ranks; without arguments: for all."""
        self.met.append([time.monotonic_ns(), ranks])

    def meet_with_last_gradient(self, model):
        """DistributedDataParallel averages gradients that fit in one bucket as soon as the last of them is ready."""

        def ready(_):
            self.met = [[time.monotonic_ns(), ()]]

        for weights in model.parameters():
            weights.register_post_accumulate_grad_hook(ready)

    def meet_in(self, distributed, *names):
        """Each call of these collectives of torch.distributed, also by PyTorch itself."""

        def clocked(collective):
            def call(*arguments, **named):
                self.meet()
                return collective(*arguments, **named)

            return call

        for name in names:
            setattr(distributed, name, clocked(getattr(distributed, name)))

    def meet_in_pairs(self, distributed):
        """Each send and receive that torch.distributed.pipelining starts; the sender comes first."""
        batch, rank = distributed.batch_isend_irecv, distributed.get_rank()

        def clocked(operations):
            for operation in operations:
                self.meet(*((rank, operation.peer) if operation.op is distributed.isend else (operation.peer, rank)))
            return batch(operations)

        distributed.batch_isend_irecv = clocked

    def end_step(self):
        self.steps.append(self.met)
        self.met = []

    def write(self):
        with open(self.path, "w") as file:
            json.dump(self.steps, file)
