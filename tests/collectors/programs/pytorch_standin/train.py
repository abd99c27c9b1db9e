"""A program with two optimizers, of which the first one leads, and a profiler of its own."""
import os
import sys

import torch

first, second = torch.optim.SGD(), torch.optim.SGD()
for step in range(5):
    assert torch.autograd.backward(step) == step + 1
    first.step()
    second.step()
    if step == 3:
        with torch.autograd.profiler.profile():
            print("profiled")
print("still on" if torch.autograd.profiler._is_profiler_enabled else "off")
print("sitecustomize of the user:", sys.modules["sitecustomize"].__file__ if hasattr(sys.modules["sitecustomize"], "MINE") else "lost")
print("hook in the path:", any(os.path.basename(entry) == "python" and "rankscope-" in entry for entry in sys.path))
sys.stdout.flush()
if os.fork() == 0:
    print("in the child:", torch.autograd.profiler.running(), flush=True)
    os._exit(0)
os.wait()
