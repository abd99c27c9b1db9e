"""What goes wrong on one rank of the training scripts in this folder, and what their own clocks saw. Plain Python."""
import argparse
import gc
import json
import os
import time

KINDS = ("none", "sleep", "loader", "compute", "gc", "batch")


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=KINDS, default="none")
    parser.add_argument("--rank", type=int, default=0, help="the rank on which it goes wrong")
    parser.add_argument("--ms", type=float, default=40)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--pace", type=float, default=50, help="ms that an accelerator would work in each step")
    parser.add_argument("--clocks", required=True, help="folder for what each rank's clock saw")
    return parser.parse_args()


class Fault:
    def __init__(self, chosen, rank):
        self.kind = chosen.fault if rank == chosen.rank else "none"
        self.seconds = chosen.ms / 1e3
        self.pace = chosen.pace / 1e3
        self.step = 0
        if self.kind == "gc":
            self.garbage = [[number] for number in range(30_000)]

    def batch_size(self, usual):
        """Of this rank's batches: of the fault, so many more that a small network computes about `ms` longer."""
        return usual + int(20_000 * self.seconds) if self.kind == "batch" else usual

    def load(self, samples):
        """In __getitem__ of the data set, of which a step needs that many."""
        if self.kind == "loader":
            time.sleep(self.seconds / samples)

    def work(self):
        """In each step, before forward."""
        self.step += 1
        time.sleep(self.pace)
        if self.kind == "sleep":
            time.sleep(self.seconds)
        if self.kind == "gc" and self.step % 10 == 0:
            end = time.monotonic() + 5 * self.seconds
            while time.monotonic() < end:
                gc.collect()

    def extra_layers(self, torch, x):
        """In forward: more work, as of a larger share of the model."""
        if self.kind != "compute":
            return x
        weights, end = torch.ones(512, 512), time.thread_time() + self.seconds
        while time.thread_time() < end:
            torch.mm(weights, weights)
        return x


class Clocks:
    """When this rank could first have met the others in each step, in ns of the host's clock."""

    def __init__(self, folder, rank):
        self.path = os.path.join(folder, f"rank{rank}.json")
        self.ready = []

    def ready_to_meet(self):
        self.ready.append(time.monotonic_ns())

    def write(self):
        with open(self.path, "w") as file:
            json.dump(self.ready, file)
