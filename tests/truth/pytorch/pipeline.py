"""A network in stages, one per rank, trained with torch.distributed.pipelining (1F1B)."""
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

import faults

BATCH = 32
MICRO_BATCHES = 4


class Stage(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.layers = nn.Sequential(nn.Linear(256, 256), nn.ReLU())

    def forward(self, x):
        self.fault.work(MICRO_BATCHES)
        return self.layers(self.fault.extra_layers(torch, x, MICRO_BATCHES))


def main():
    chosen = faults.options()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    fault, clocks = faults.Fault(chosen, rank), faults.Clocks(chosen.clocks, rank)
    module = Stage(fault)
    schedule = Schedule1F1B(PipelineStage(module, rank, ranks, torch.device("cpu")), MICRO_BATCHES, loss_fn=nn.MSELoss())
    clocks.meet_in_pairs(dist)
    optimizer = torch.optim.SGD(module.parameters(), lr=0.01)
    with faults.profiler(torch, chosen, rank) as profile:
        for _ in range(chosen.steps):
            optimizer.zero_grad()
            if rank == 0:
                schedule.step(torch.randn(BATCH, 256))
            elif rank == ranks - 1:
                schedule.step(target=torch.randn(BATCH, 256))
            else:
                schedule.step()
            clocks.end_step()
            optimizer.step()
            faults.end_step(profile)
    clocks.write()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
