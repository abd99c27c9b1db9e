#!/usr/bin/env python3
"""tensorboard_nccl_test.py RANKSCOPE DATA CHECK: a recording of a real GPU job (kineto/nccl_args_a100 in DATA), made into two
ranks, exported for TensorBoard and looked at there by CHECK (scripts/check_tensorboard). What the plugin makes of it is
known: 38,552 us of kernels and 13,407 us of communication in a step. 77 without the data or TensorBoard."""
import gzip
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RANKS = 2
WANTED = {"Kernel": 38552, "Communication": 13407}


def main():
    program, data, check = sys.argv[1:]
    source = Path(data) / "kineto/nccl_args_a100/nccl_data.json.gz"
    if not source.is_file():
        print(f"tensorboard_nccl_test: cannot run: {source} is not there")
        return 77
    with tempfile.TemporaryDirectory(prefix="tensorboard_nccl.") as folder:
        run, out = Path(folder) / "run", Path(folder) / "out"
        run.mkdir()
        trace = json.loads(gzip.decompress(source.read_bytes()))
        for rank in range(RANKS):
            trace["distributedInfo"]["rank"] = rank
            (run / f"rank{rank}.json").write_text(json.dumps(trace))
        subprocess.run([program, "export", run, "--to", "tensorboard", out], check=True)
        done = subprocess.run([check, out], capture_output=True, text=True)
    print(done.stdout, done.stderr)
    if done.returncode != 0:
        return done.returncode
    for part, wanted in WANTED.items():
        found = re.findall(rf"{part} us in all steps +([0-9.]+)", done.stdout)
        if len(found) != RANKS:
            print(f"tensorboard_nccl_test: {part}: {len(found)} lines of {RANKS} workers")
            return 1
        for micros in found:
            if abs(float(micros) / 3 - wanted) > 1:
                print(f"tensorboard_nccl_test: {part}: {float(micros) / 3:.0f} us in a step, known are {wanted}")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
