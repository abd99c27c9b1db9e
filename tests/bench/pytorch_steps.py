#!/usr/bin/env python3
"""A plain PyTorch program with steps of a tenth of a second; for scripts/overhead --pytorch.

torchrun --nproc-per-node N tests/bench/pytorch_steps.py --steps K

Each rank trains a transformer under DistributedDataParallel on Gloo, with a DataLoader, one thread, and nothing of rankscope.
Rank 0 prints the median time of its steps, and the mean CPU time of all its threads per step, in seconds, without the first
fifth of them. On a machine with neighbours the CPU time varies less.
"""
import argparse
import statistics
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

LAYERS, WIDTH, HEADS, LENGTH, BATCH, CLASSES = 6, 128, 4, 64, 8, 10


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        block = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(block, LAYERS, enable_nested_tensor=False)
        self.head = nn.Linear(WIDTH, CLASSES)

    def forward(self, tokens):
        return self.head(self.blocks(tokens).mean(dim=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=40)
    steps = parser.parse_args().steps
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    samples = torch.utils.data.TensorDataset(torch.randn(steps * BATCH, LENGTH, WIDTH), torch.randint(CLASSES, (steps * BATCH,)))
    model = DistributedDataParallel(Network())
    optimizer = torch.optim.AdamW(model.parameters())
    loss_of = nn.CrossEntropyLoss()
    seconds, cpu_seconds = [], []
    began = time.perf_counter()
    for tokens, labels in torch.utils.data.DataLoader(samples, batch_size=BATCH, shuffle=True):
        optimizer.zero_grad()
        loss_of(model(tokens), labels).backward()
        optimizer.step()
        ended = time.perf_counter()
        seconds.append(ended - began)
        cpu_seconds.append(time.process_time())
        began = ended
    first = steps // 5
    if dist.get_rank() == 0:
        cpu = (cpu_seconds[-1] - cpu_seconds[first]) / (steps - 1 - first)
        print(f"median step {statistics.median(seconds[first:])} s, CPU {cpu} s", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
