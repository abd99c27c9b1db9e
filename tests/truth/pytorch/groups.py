"""Two groups, written by hand: pairs of ranks share the layers (tensor parallel), and their copies average gradients (data parallel)."""
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh

import faults

WIDTH = 256


class SumOverPair(torch.autograd.Function):
    @staticmethod
    def forward(context, x, group):
        x = x.clone()
        dist.all_reduce(x, group=group)
        return x

    @staticmethod
    def backward(context, gradient):
        return gradient, None


def main():
    chosen = faults.options()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, ranks = dist.get_rank(), dist.get_world_size()
    mesh = init_device_mesh("cpu", (ranks // 2, 2), mesh_dim_names=("dp", "tp"))
    pair, copies = mesh.get_group("tp"), mesh.get_group("dp")
    fault, clocks = faults.Fault(chosen, rank), faults.Clocks(chosen.clocks, rank)
    first, second = nn.Linear(WIDTH, WIDTH // 2), nn.Linear(WIDTH // 2, WIDTH, bias=False)  # this rank's halves
    parameters = [*first.parameters(), *second.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=0.01)
    with faults.profiler(torch, chosen, rank) as profile:
        for _ in range(chosen.steps):
            x = torch.randn(16, WIDTH)
            fault.work()
            x = fault.extra_layers(torch, x)
            part = second(torch.relu(first(x)))
            clocks.meet(*dist.get_process_group_ranks(pair))
            loss = SumOverPair.apply(part, pair).square().mean()
            loss.backward()
            for parameter in parameters:
                clocks.meet(*dist.get_process_group_ranks(copies))
                dist.all_reduce(parameter.grad, group=copies)
                parameter.grad /= ranks // 2
            clocks.end_step()
            optimizer.step()
            optimizer.zero_grad()
            faults.end_step(profile)
    clocks.write()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
