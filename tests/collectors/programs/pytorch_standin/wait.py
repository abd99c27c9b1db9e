"""A program of which is known where it is: in Loader.wait, its worker in Loader.read; and its collector pauses."""
import gc
import os
import time

import torch
from torch.utils.data._utils.worker import _worker_loop


class Loader:
    def wait(self):
        time.sleep(0.4)

    def read(self):
        time.sleep(1)


def main():
    optimizer = torch.optim.SGD()
    optimizer.step()
    if os.fork() == 0:
        _worker_loop(Loader().read)
        os._exit(0)
    Loader().wait()
    garbage = [[number] for number in range(200_000)]
    gc.collect()
    assert garbage
    os.wait()
    optimizer.step()


main()
