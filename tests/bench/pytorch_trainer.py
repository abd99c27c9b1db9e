#!/usr/bin/env python3
"""What PyTorch's own data, sharded and tensor parallelism take for what rankscope-train does; for scripts/bench_trainer.

torchrun --nproc-per-node N tests/bench/pytorch_trainer.py --parallel MODE --model mlp|gpt --layers L --hidden H --heads A
         --seq S --batch B --steps K --log-every E

The models, their first parameters, samples and order are those of rankscope-train with the same options and seed 1, so
that both print the same losses. All samples are made before the first step, which the trainer's loader does beside the
steps. MODE: ddp (DistributedDataParallel), zero1 (that with ZeroRedundancyOptimizer), zero2 and zero3 (fully_shard), tp
(DTensor with loss_parallel). Rank 0 prints a line of JSON for every E steps: step, loss, milliseconds per step.
"""
import argparse
import contextlib
import json
import os
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

SAMPLES, VOCABULARY, CLASSES, PIXELS, SEED = 4096, 256, 10, 28 * 28, 1
MASK = (1 << 64) - 1


def mix(seed, counter):
    """Random numbers of the trainer's sampler.h, for an array of counters."""
    with np.errstate(over="ignore"):
        z = np.uint64(seed * 0xD1342543DE82EF95 & MASK) + (np.asarray(counter, np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def order_of(epoch):
    seed = int(mix(SEED, epoch))
    draws = mix(seed, np.arange(SAMPLES + 1))
    order = list(range(SAMPLES))
    for i in range(SAMPLES, 1, -1):
        other = int(draws[i]) % i
        order[i - 1], order[other] = order[other], order[i - 1]
    return order


def image(index):
    noise = int(mix(SEED, index))
    label = noise % CLASSES
    pattern = int(mix(~SEED & MASK, label))
    def unit(seed):
        return (mix(seed, np.arange(PIXELS)) >> np.uint64(40)).astype(np.float32) * np.float32(2.0 ** -24)
    return 2 * (unit(pattern) - np.float32(0.5)) + (unit(noise) - np.float32(0.5)), label


def tokens(index, length):
    noise = int(mix(SEED, index))
    draws = mix(noise, np.arange(length))
    token, given, wanted = noise % VOCABULARY, [], []
    for draw in map(int, draws):
        given.append(token)
        token = (draw >> 8) % VOCABULARY if draw % 4 == 0 else (token * 5 + 3) % VOCABULARY
        wanted.append(token)
    return given, wanted


def batches(args, rank, ranks):
    """Inputs and labels of each step of this rank; of tp all ranks have the same."""
    stride, first = (1, 0) if args.parallel == "tp" else (ranks, rank)
    per_epoch = SAMPLES // stride // args.batch
    made = []
    for step in range(args.steps):
        if step % per_epoch == 0:
            mine = order_of(step // per_epoch)[first::stride]
        chosen = mine[step % per_epoch * args.batch:][:args.batch]
        samples = [image(i) if args.model == "mlp" else tokens(i, args.seq) for i in chosen]
        inputs = torch.tensor(np.array([given for given, _ in samples]))
        made.append((inputs, torch.tensor(np.array([wanted for _, wanted in samples])).flatten()))
    return made


class Layer(nn.Module):
    def __init__(self, width, out, activation):
        super().__init__()
        self.linear, self.activation = nn.Linear(width, out), activation

    def forward(self, x):
        return F.relu(self.linear(x)) if self.activation else self.linear(x)


class Embedding(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, args.hidden)
        self.position = nn.Parameter(0.02 * torch.randn(args.seq, args.hidden))
        nn.init.normal_(self.token.weight, 0.0, 0.02)

    def forward(self, x):
        return self.token(x) + self.position


class Attention(nn.Module):
    """One projection to q, k and v, or three for tensor parallelism, which splits the outputs of each."""

    def __init__(self, args):
        super().__init__()
        self.norm1 = nn.LayerNorm(args.hidden)
        self.qkv = nn.Linear(args.hidden, 3 * args.hidden)
        self.out = nn.Linear(args.hidden, args.hidden)
        self.norm2 = nn.LayerNorm(args.hidden)
        self.up = nn.Linear(args.hidden, 4 * args.hidden)
        self.down = nn.Linear(4 * args.hidden, args.hidden)
        self.head_width = args.hidden // args.heads

    def split_projection(self):
        width = self.qkv.out_features // 3
        for name, weight, bias in zip("qkv", self.qkv.weight.split(width), self.qkv.bias.split(width)):
            part = nn.Linear(self.qkv.in_features, width)
            part.weight, part.bias = nn.Parameter(weight.detach().clone()), nn.Parameter(bias.detach().clone())
            self.add_module(name, part)
        del self.qkv

    def forward(self, x):
        normed = self.norm1(x)
        parts = self.qkv(normed).chunk(3, -1) if hasattr(self, "qkv") else (self.q(normed), self.k(normed), self.v(normed))
        batch, sequence, width = parts[0].shape
        heads = [part.view(batch, sequence, width // self.head_width, self.head_width).transpose(1, 2) for part in parts]
        mixed = F.scaled_dot_product_attention(*heads, is_causal=True)
        attended = x + self.out(mixed.transpose(1, 2).reshape(batch, sequence, width))
        return attended + self.down(F.gelu(self.up(self.norm2(attended))))


class Head(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.norm, self.linear = nn.LayerNorm(args.hidden), nn.Linear(args.hidden, VOCABULARY, bias=False)

    def forward(self, x):
        return self.linear(self.norm(x)).flatten(0, 1)


def model_of(args):
    torch.manual_seed(SEED)
    if args.model == "gpt":
        return nn.Sequential(Embedding(args), *[Attention(args) for _ in range(args.layers)], Head(args))
    widths = [PIXELS] + [args.hidden] * args.layers
    layers = [Layer(width, args.hidden, True) for width in widths[:-1]]
    return nn.Sequential(*layers, Layer(widths[-1], CLASSES, False))


def split(model, args):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
    mesh = init_device_mesh("cpu", (dist.get_world_size(),))
    if args.model == "mlp":
        plan = {f"{i}.linear": RowwiseParallel() if i % 2 else ColwiseParallel() for i in range(len(model))}
        if len(model) % 2:
            del plan[f"{len(model) - 1}.linear"]
        return parallelize_module(model, mesh, plan)
    plan = {"0.token": RowwiseParallel(input_layouts=Replicate()),
            f"{len(model) - 1}.linear": ColwiseParallel(output_layouts=Shard(-1), use_local_output=False)}
    for i, block in enumerate(list(model)[1:-1], 1):
        block.split_projection()
        plan |= {f"{i}.{name}": ColwiseParallel() for name in ("q", "k", "v", "up")}
        plan |= {f"{i}.{name}": RowwiseParallel() for name in ("out", "down")}
    return parallelize_module(model, mesh, plan)


def shared(model, args):
    """The model as the ranks share it, its optimizer, and the context of loss and backward."""
    momentum = {"lr": 0.05, "momentum": 0.9}
    everything = contextlib.nullcontext
    if args.parallel == "tp":
        from torch.distributed.tensor.parallel import loss_parallel
        model = split(model, args)
        everything = loss_parallel if args.model == "gpt" else everything
    elif args.parallel in ("zero2", "zero3"):
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        for block in [*model, model]:
            fully_shard(block, mesh=mesh, reshard_after_forward=args.parallel == "zero3")
    else:
        model = nn.parallel.DistributedDataParallel(model)
    if args.parallel == "zero1":
        from torch.distributed.optim import ZeroRedundancyOptimizer
        return model, ZeroRedundancyOptimizer(model.parameters(), torch.optim.SGD, **momentum), everything
    return model, torch.optim.SGD(model.parameters(), **momentum), everything


def train(args, rank, ranks):
    made = batches(args, rank, ranks)
    model, optimizer, loss_context = shared(model_of(args), args)
    dist.barrier()
    begun, total = time.perf_counter(), 0.0
    for step, (inputs, labels) in enumerate(made, 1):
        with loss_context():
            loss = F.cross_entropy(model(inputs), labels)
            loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        mean = loss.detach()
        total += float(mean.full_tensor() if hasattr(mean, "full_tensor") else mean)
        if step % args.log_every == 0:
            sums = torch.tensor([total, args.log_every], dtype=torch.float64)
            dist.all_reduce(sums)
            now = time.perf_counter()
            if rank == 0:
                print(json.dumps({"step": step, "loss": float(sums[0] / sums[1]),
                                  "ms": 1000 * (now - begun) / args.log_every}), flush=True)
            begun, total = now, 0.0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parallel", choices=["ddp", "zero1", "zero2", "zero3", "tp"], required=True)
    parser.add_argument("--model", choices=["mlp", "gpt"], required=True)
    for name in ("layers", "hidden", "heads", "seq", "batch", "steps", "log-every"):
        parser.add_argument(f"--{name}", type=int, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    train(args, dist.get_rank(), dist.get_world_size())
    dist.barrier()
    os._exit(0)  # some optimizers of PyTorch abort while their threads are taken down; all is printed


if __name__ == "__main__":
    main()
