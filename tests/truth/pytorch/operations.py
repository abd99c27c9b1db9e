"""One of each operation of torch.distributed on two ranks, in the ways in which programs call them."""
import time

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional


def collectives(rank, world):
    x, parts, all_parts = torch.ones(1000), [torch.empty(1000) for _ in range(world)], torch.empty(1000 * world)
    dist.all_reduce(x)
    later = dist.all_reduce(x, async_op=True)
    time.sleep(0.002)
    later.wait()
    dist.broadcast(x, src=1)
    dist.reduce(x, dst=1)
    dist.all_gather(parts, x)
    dist.all_gather_into_tensor(all_parts, x)
    dist.reduce_scatter_tensor(x, all_parts)
    dist.reduce_scatter(x, parts)
    dist.gather(x, parts if rank == 1 else None, dst=1)
    dist.scatter(x, parts if rank == 1 else None, src=1)
    dist.all_to_all_single(torch.empty_like(all_parts), all_parts)
    dist.barrier()
    dist.monitored_barrier()
    (functional.all_reduce(x, "sum", dist.group.WORLD) + 1).sum()
    functional.all_gather_tensor(x, 0, dist.group.WORLD).sum()


def objects(rank, world):
    dist.all_gather_object([None] * world, {"rank": rank})
    dist.broadcast_object_list([rank], src=0)


def pairs(rank):
    x, other = torch.ones(500), 1 - rank
    if rank == 0:
        dist.send(x, other)
        dist.isend(x, other).wait()
    else:
        dist.recv(x, other)
        dist.irecv(x, other).wait()
    operations = [dist.P2POp(dist.isend, x, other), dist.P2POp(dist.irecv, x.clone(), other)]
    for operation in dist.batch_isend_irecv(operations):
        operation.wait()


def again(rank, world):
    """The groups get the same names again. What the first ones left in the store is not for them."""
    store = dist.distributed_c10d._get_default_store()
    dist.destroy_process_group()
    dist.init_process_group("gloo", store=dist.PrefixStore("again", store), rank=rank, world_size=world)
    dist.all_reduce(torch.ones(1000))
    dist.barrier()


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    half = dist.new_group([0, 1], group_desc="halves")
    collectives(rank, world)
    objects(rank, world)
    pairs(rank)
    dist.all_reduce(torch.ones(10, dtype=torch.bfloat16), group=half)
    dist.barrier()
    again(rank, world)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
