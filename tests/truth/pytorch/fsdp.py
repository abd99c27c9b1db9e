"""A small network under FSDP2 (fully_shard)."""
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import faults


def main():
    chosen = faults.options()
    torch.set_num_threads(1)
    mesh = init_device_mesh("cpu", (int(os.environ["WORLD_SIZE"]),), mesh_dim_names=("dp",))
    rank = dist.get_rank()
    fault, clocks = faults.Fault(chosen, rank), faults.Clocks(chosen.clocks, rank)
    layers = [nn.Linear(128, 128), nn.Linear(128, 128)]
    for layer in layers:
        fully_shard(layer, mesh=mesh)
    model = nn.Sequential(*layers)
    fully_shard(model, mesh=mesh)
    clocks.meet_in(dist, "all_gather_into_tensor", "reduce_scatter_tensor")
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    with faults.profiler(torch, chosen, rank) as profile:
        for _ in range(chosen.steps):
            x = torch.randn(8, 128)
            fault.work()
            x = fault.extra_layers(torch, x)
            model(x).square().mean().backward()
            clocks.end_step()
            optimizer.step()
            optimizer.zero_grad()
            faults.end_step(profile)
    clocks.write()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
