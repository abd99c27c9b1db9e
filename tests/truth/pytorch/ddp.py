"""A classifier under DistributedDataParallel, with a DataLoader in the same process."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

import faults

BATCH = 4


class Pictures(Dataset):
    def __init__(self, size, fault):
        self.size = size
        self.fault = fault

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        self.fault.load(BATCH)
        return torch.randn(256), index % 10


class Classifier(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.fault = fault
        self.layers = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10))

    def forward(self, x):
        return self.layers(self.fault.extra_layers(torch, x))


def main():
    chosen = faults.options()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    fault, clocks = faults.Fault(chosen, rank), faults.Clocks(chosen.clocks, rank)
    model = DistributedDataParallel(Classifier(fault))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = DataLoader(Pictures(chosen.steps * BATCH, fault), batch_size=BATCH, num_workers=chosen.workers)
    alone = Classifier(faults.Fault(chosen, -1))
    fault.fit_batch(lambda copies: alone(torch.randn(copies * BATCH, 256)).sum().backward())
    fault.slow_link(model)
    clocks.meet_with_last_gradient(model)
    with faults.profiler(torch, chosen, rank) as profile:
        for x, y in data:
            fault.work()
            x, y = fault.batch(x, y)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            clocks.end_step()
            optimizer.step()
            faults.end_step(profile)
    clocks.write()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
