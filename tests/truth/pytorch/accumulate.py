"""Gradient accumulation under DistributedDataParallel: of four backwards only the last one meets the other ranks."""
import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

import faults

PARTS = 4


def main():
    chosen = faults.options()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    fault, clocks = faults.Fault(chosen, rank), faults.Clocks(chosen.clocks, rank)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    fault.slow_link(model)
    clocks.meet_with_last_gradient(model)
    with faults.profiler(torch, chosen, rank) as profile:
        for _ in range(chosen.steps):
            for part in range(PARTS):
                x, y = torch.randn(16, 256), torch.randint(10, (16,))
                fault.work(PARTS)
                x = fault.extra_layers(torch, x, PARTS)
                last = part == PARTS - 1
                with contextlib.nullcontext() if last else model.no_sync():
                    loss = nn.functional.cross_entropy(model(x), y) / PARTS
                    loss.backward()
            clocks.end_step()
            optimizer.step()
            optimizer.zero_grad()
            faults.end_step(profile)
    clocks.write()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
