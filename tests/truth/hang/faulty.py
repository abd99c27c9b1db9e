"""Trains a small model on Gloo ranks, and goes wrong in one way on one rank.

torchrun --nproc-per-node 4 faulty.py --mode ddp --fault never --rank 1 --step 6

Modes: ddp, fsdp (FSDP2), pipeline (sends and receives between neighbours). `--fault none` is a clean run; `--fault slow` pauses one
rank for 4 s now and then, as a checkpoint does. With --dump, each rank that lives writes its Flight Recorder some seconds after the fault
(TORCH_FR_BUFFER_SIZE must be set), since nothing does so on the CPU.
"""
import argparse
import os
import pathlib
import signal
import threading
import time

import torch
import torch.distributed as dist

DUMP_AFTER_S = 5
FAULTS = ("none", "slow", "never", "sleep", "order", "size", "dtype", "root", "kill", "stop", "exception", "groups")


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=("ddp", "fsdp", "pipeline"), default="ddp")
    parser.add_argument("--fault", choices=FAULTS, default="none")
    parser.add_argument("--rank", type=int, default=1, help="the faulty rank")
    parser.add_argument("--step", type=int, default=6, help="the step in which it goes wrong")
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--dump", type=pathlib.Path, help="folder for the dumps of the Flight Recorder")
    return parser.parse_args()


def model_for(mode, rank):
    model = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.ReLU(), torch.nn.Linear(64, 32))
    if mode == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model)
    if mode == "fsdp":
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard

        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        for layer in model:
            if isinstance(layer, torch.nn.Linear):
                fully_shard(layer, mesh=mesh)
        return fully_shard(model, mesh=mesh)
    return model


def go_wrong(fault, pair_of_groups):
    """What the faulty rank does in place of the all_reduce that its peers call. True: it comes to it afterwards."""
    if fault == "never":
        while True:
            time.sleep(3600)
    if fault == "sleep":
        time.sleep(600)
    if fault == "order":
        dist.broadcast(torch.ones(16), src=0)
    if fault == "size":
        dist.all_reduce(torch.ones(4096))
        return False
    if fault == "dtype":
        dist.all_reduce(torch.ones(16, dtype=torch.float64))
        return False
    if fault == "root":
        dist.broadcast(torch.ones(16), src=dist.get_rank())
        return False
    if fault == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "stop":
        os.kill(os.getpid(), signal.SIGSTOP)
    if fault == "exception":
        raise RuntimeError("this rank fails on purpose")
    if fault == "groups":
        for group in reversed(pair_of_groups):
            dist.all_reduce(torch.ones(8), group=group)
    return True


def dump_later(folder, rank):
    """Also while the rank waits in an operation or sleeps, since both let other threads run."""
    def dump():
        temporary = folder / f"unfinished.{rank}"
        temporary.write_bytes(torch._C._distributed_c10d._dump_fr_trace())
        temporary.rename(folder / f"_dump_{rank}")

    timer = threading.Timer(DUMP_AFTER_S, dump)
    timer.daemon = True
    timer.start()


def synchronise(chosen, step, pair_of_groups):
    """One operation of all ranks after each step, which the faulty rank misses or spoils."""
    rank, here = dist.get_rank(), chosen.fault not in ("none", "slow") and step == chosen.step
    if here and rank == chosen.rank and not go_wrong(chosen.fault, pair_of_groups):
        return
    if here and chosen.fault == "root":
        dist.broadcast(torch.ones(16), src=0 if chosen.rank != 0 else 1)
        return
    if here and chosen.fault == "groups" and rank != chosen.rank:
        for group in pair_of_groups:
            dist.all_reduce(torch.ones(8), group=group)
    dist.all_reduce(torch.ones(16))


def pass_on(rank, size):
    """A pipeline of one micro-batch: activations go to the next rank."""
    data = torch.ones(8, 32)
    if rank > 0:
        dist.recv(data, src=rank - 1)
    if rank + 1 < size:
        dist.send(data, dst=rank + 1)


def main():
    chosen = options()
    torch.manual_seed(0)
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    pair_of_groups = [dist.new_group(list(range(size))) for _ in range(2)]
    model = model_for(chosen.mode, rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(chosen.steps):
        if chosen.fault == "slow" and rank == chosen.rank and step % 4 == 3:
            time.sleep(4)
        if chosen.mode == "pipeline":
            pass_on(rank, size)
        optimizer.zero_grad()
        model(torch.randn(8, 32)).square().mean().backward()
        optimizer.step()
        if chosen.dump and step == chosen.step:
            dump_later(chosen.dump, rank)
        synchronise(chosen, step, pair_of_groups)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
