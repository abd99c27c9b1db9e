"""A small PyTorch program for scripts/gpu-check: the same work each time, without a profiler or with PyTorch's own.

    rankscope record --pytorch --out out/gpu.rankscope -- python3 samples/gpu/train.py
    python3 samples/gpu/train.py --kineto trace.json
    torchrun --nproc-per-node 2 samples/gpu/train.py --backend gloo

Trains a model of each --width in turn. The part that is compared begins after a kernel that nothing else uses (spin_kernel),
before the first measured step. Prints, as JSON, the ns of each measured step of each width. Several ranks share GPU 0. Without a
GPU it runs on the CPU.
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


class Training:
    """One model and its step."""

    def __init__(self, width, batch, device, shared):
        model = make_model(width).to(device)
        self.model = torch.nn.parallel.DistributedDataParallel(model) if shared else model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, foreach=True)
        samples = torch.randn(batch, width)
        self.batch, self.device = samples.pin_memory() if device.type == "cuda" else samples, device

    def step(self):
        inputs = self.batch.to(self.device, non_blocking=True)
        self.optimizer.zero_grad(set_to_none=True)
        self.model(inputs).square().mean().backward()
        self.optimizer.step()


def measured(training, steps, wait):
    times = []
    for _ in range(steps):
        begin = time.perf_counter_ns()
        training.step()
        wait()
        times.append(time.perf_counter_ns() - begin)
    return times


def profiler_for(cuda):
    activities = [torch.profiler.ProfilerActivity.CPU] + ([torch.profiler.ProfilerActivity.CUDA] if cuda else [])
    return torch.profiler.profile(activities=activities)


def options_of():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--width", type=int, nargs="+", default=[1024])
    parser.add_argument("--steps", type=int, nargs="+", default=[60], help="number of measured steps of each width")
    parser.add_argument("--warmup", type=int, default=10)
    parser.add_argument("--batch", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=0, help="after all widths, continue with the first one for this many seconds")
    parser.add_argument("--kineto", metavar="FILE", help="profile the measured steps with torch.profiler into FILE")
    parser.add_argument("--backend", help="train on all ranks of torchrun: gloo or nccl")
    options = parser.parse_args()
    if len(options.steps) == 1:
        options.steps *= len(options.width)
    if len(options.steps) != len(options.width):
        parser.error("--steps needs one number, or one for each width")
    return options


def go_on(training, seconds, wait):
    """How many steps it made. Waits once in a while, as programs do that print their loss."""
    steps, until = 0, time.perf_counter() + seconds
    while time.perf_counter() < until:
        for _ in range(10):
            training.step()
        wait()
        steps += 10
    return steps


def main():
    options = options_of()
    cuda = torch.cuda.is_available()
    device = torch.device("cuda:0" if cuda else "cpu")
    if not cuda:
        torch.set_num_threads(1)
    torch.manual_seed(0)
    if options.backend:
        torch.distributed.init_process_group(options.backend, device_id=device if options.backend == "nccl" else None)
    trainings = [Training(width, options.batch, device, options.backend) for width in options.width]
    wait = torch.cuda.synchronize if cuda else (lambda: None)
    for training in trainings:
        for _ in range(options.warmup):
            training.step()
    wait()
    profiler = profiler_for(cuda) if options.kineto else None
    if profiler:
        profiler.start()
    if cuda:
        torch.cuda._sleep(1000)
        wait()
    times = {str(width): measured(training, steps, wait) for width, training, steps in zip(options.width, trainings, options.steps)}
    more = go_on(trainings[0], options.seconds, wait) if options.seconds else 0
    if profiler:
        profiler.stop()
        profiler.export_chrome_trace(options.kineto)
    if int(os.environ.get("RANK", "0")) == 0:
        print(json.dumps({"torch": torch.__version__, "device": torch.cuda.get_device_name(0) if cuda else "cpu", "step_ns": times,
                          "warmup": options.warmup * len(trainings), "more_steps": more}))
    if options.backend:
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
