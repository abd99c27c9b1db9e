"""A small PyTorch program for scripts/gpu-check: the same work each time, without a profiler or with PyTorch's own.

    rankscope record --pytorch --out out/gpu.rankscope -- python3 samples/gpu/train.py
    python3 samples/gpu/train.py --kineto trace.json
    torchrun --nproc-per-node 2 samples/gpu/train.py --backend gloo

What is compared begins behind a kernel that nothing else uses (spin_kernel). Prints, as JSON, the ns of each step from
there on. Several ranks share GPU 0. Without a GPU it runs on the CPU.
"""
import argparse
import json
import os
import time

import torch


def make_model(width):
    layers = []
    for _ in range(4):
        layers += [torch.nn.Linear(width, width), torch.nn.GELU(), torch.nn.LayerNorm(width)]
    return torch.nn.Sequential(*layers)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--width", type=int, default=1024)
    parser.add_argument("--kineto", metavar="FILE", help="profile the steps with torch.profiler into FILE")
    parser.add_argument("--backend", help="train on all ranks of torchrun: gloo or nccl")
    options = parser.parse_args()

    cuda = torch.cuda.is_available()
    device = torch.device("cuda:0" if cuda else "cpu")
    if not cuda:
        torch.set_num_threads(1)
    torch.manual_seed(0)
    model = make_model(options.width).to(device)
    if options.backend:
        torch.distributed.init_process_group(options.backend)
        model = torch.nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
    batch = torch.randn(512, options.width).pin_memory() if cuda else torch.randn(512, options.width)
    wait = torch.cuda.synchronize if cuda else (lambda: None)

    def step():
        inputs = batch.to(device, non_blocking=True)
        optimizer.zero_grad(set_to_none=True)
        model(inputs).square().mean().backward()
        optimizer.step()

    for _ in range(options.warmup):
        step()
    wait()
    profiler = None
    if options.kineto:
        activities = [torch.profiler.ProfilerActivity.CPU] + ([torch.profiler.ProfilerActivity.CUDA] if cuda else [])
        profiler = torch.profiler.profile(activities=activities)
        profiler.start()
    if cuda:
        torch.cuda._sleep(1000)
        wait()
    times = []
    for _ in range(options.steps):
        begin = time.perf_counter_ns()
        step()
        wait()
        times.append(time.perf_counter_ns() - begin)
    if profiler:
        profiler.stop()
        profiler.export_chrome_trace(options.kineto)
    if int(os.environ.get("RANK", "0")) == 0:
        print(json.dumps({"torch": torch.__version__, "device": torch.cuda.get_device_name(0) if cuda else "cpu", "step_ns": times}))
    if options.backend:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
