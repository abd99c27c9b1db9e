"""A plain PyTorch DDP program without any annotations, as most programs are.

    rankscope record --out out/pytorch.rankscope -- torchrun --nproc-per-node 2 samples/pytorch_ddp.py
    rankscope report out/pytorch.rankscope

It runs on the CPU with Gloo. Operators, steps and collectives are recorded although the program does nothing for it. With
`record --no-pytorch`, the recording has only ranks and host samples, and the report says what is missing and how to record it.
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.05, help="pause at the end of each step")
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.ReLU(), torch.nn.Linear(256, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(arguments.steps):
        inputs = torch.randn(32, 64)
        labels = torch.randint(0, 10, (32,))
        loss = torch.nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        time.sleep(arguments.seconds)
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
