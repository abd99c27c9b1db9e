"""A program that writes into files of others and closes them, and forks a child that is no loader worker."""
import os
import sys
import time

import torch


def pipes():
    """All pipes that this process has open."""
    found = set()
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}").startswith("pipe:"):
                found.add(int(name))
        except OSError:
            pass  # that of the listing itself
    return found


def child(before):
    """Ends with status 1 if it holds on to the pipe."""
    time.sleep(0.2)
    at_once = len(pipes() - before)
    time.sleep(2.6)
    os._exit(0 if at_once == 1 and pipes() == before else 1)


def damaged():
    time.sleep(0.3)


def closed():
    time.sleep(0.5)


def main():
    optimizer = torch.optim.SGD()
    optimizer.step()
    before = pipes()
    process = os.fork()
    if process == 0:
        child(before)
    for end in pipes() - before:
        try:
            os.write(end, b"no sample\n12 x f a.py:3\n7\n")
        except OSError:
            pass  # the other end
    damaged()
    for end in pipes() - before:
        os.close(end)
    closed()
    _, status = os.waitpid(process, 0)
    sys._current_frames = None  # from now on nothing can be sampled
    time.sleep(0.3)
    optimizer.step()
    sys.exit(1 if status else 0)


main()
