"""A PyTorch job of several ranks that share one GPU, in which one rank is slow, stops or dies: for scripts/gpu-verdicts.

    torchrun --nproc-per-node 2 samples/gpu/faulty.py --fault sleep --rank 1
    torchrun --nproc-per-node 2 samples/gpu/faulty.py --fault never --timeout 25

Uses NCCL if there is a GPU, otherwise Gloo. NCCL takes several ranks on one GPU only if each has its own NCCL_HOSTID.
"""
import argparse
import contextlib
import datetime
import gc
import os
import pathlib
import signal
import time

import torch
import torch.distributed as dist

SLOW = ("sleep", "loader", "kernels", "batch", "gc")
BROKEN = ("never", "order", "size", "kill", "stop", "exception")


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fault", choices=("none", *SLOW, *BROKEN), default="none")
    parser.add_argument("--rank", type=int, default=1, help="the rank on which it goes wrong")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--ms", type=float, default=30, help="what a slow rank loses in each step")
    parser.add_argument("--timeout", type=float, default=0, help="seconds after which NCCL gives up; 0: as PyTorch does")
    parser.add_argument("--profile", type=pathlib.Path, help="folder for traces of torch.profiler, of three steps")
    return parser.parse_args()


class Samples(torch.utils.data.Dataset):
    def __init__(self, seconds, count):
        self.seconds, self.count = seconds, count

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        read_sample(self.seconds)
        return torch.randn(512), index % 10


def read_sample(seconds):
    if seconds:
        time.sleep(seconds)


def prepare(fault, seconds, step):
    """What the host does before a step."""
    time.sleep(0.01)
    if fault == "sleep":
        time.sleep(seconds)
    if fault == "gc" and step % 10 == 0:
        end = time.monotonic() + 5 * seconds
        while time.monotonic() < end:
            gc.collect()


class Network(torch.nn.Module):
    def __init__(self, extra_ms):
        super().__init__()
        self.extra_ms = extra_ms
        self.layers = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 2048), torch.nn.GELU(), torch.nn.Linear(2048, 10))

    def forward(self, x):
        if self.extra_ms and x.is_cuda:
            torch.cuda._sleep(int(self.extra_ms * 1.7e6))  # cycles
        return self.layers(x)


def go_wrong(fault, device):
    """True: the rank comes to the operation of the others afterwards."""
    if fault == "never":
        while True:
            wait_for_licence()
    if fault == "order":
        dist.broadcast(torch.ones(16, device=device), src=0)
    if fault == "size":
        dist.all_reduce(torch.ones(4096, device=device))
        return False
    if fault in ("kill", "stop"):
        os.kill(os.getpid(), signal.SIGKILL if fault == "kill" else signal.SIGSTOP)
    if fault == "exception":
        raise RuntimeError("this rank fails on purpose")
    return True


def wait_for_licence():
    time.sleep(3600)


def profiler(folder, rank):
    if not folder:
        return contextlib.nullcontext()
    folder.mkdir(parents=True, exist_ok=True)
    return torch.profiler.profile(schedule=torch.profiler.schedule(wait=5, warmup=2, active=3, repeat=1),
                                  on_trace_ready=lambda done: done.export_chrome_trace(str(folder / f"rank{rank}.json")))


def main():
    chosen = options()
    cuda = torch.cuda.is_available()
    device = torch.device("cuda:0" if cuda else "cpu")
    more = {"timeout": datetime.timedelta(seconds=chosen.timeout)} if chosen.timeout else {}
    dist.init_process_group("nccl" if cuda else "gloo", device_id=device if cuda else None, **more)
    rank = dist.get_rank()
    fault, seconds, batch = chosen.fault if rank == chosen.rank else "none", chosen.ms / 1e3, 16
    model = torch.nn.parallel.DistributedDataParallel(Network(chosen.ms if fault == "kernels" else 0).to(device))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = torch.utils.data.DataLoader(Samples(seconds / batch if fault == "loader" else 0, batch * chosen.steps), batch_size=batch)
    with profiler(chosen.profile, rank) as profile:
        for step, (x, y) in enumerate(data):
            prepare(fault, seconds, step)
            x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
            if fault == "batch":
                x, y = x.repeat(4096, 1), y.repeat(4096)
            optimizer.zero_grad(set_to_none=True)
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            if fault not in BROKEN or step != 10 or go_wrong(fault, device):
                dist.all_reduce(loss.detach())
            if step % 10 == 9:
                print(f"rank {rank}, step {step}: loss {loss.item():.4f}", flush=True)
            if profile:
                profile.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
