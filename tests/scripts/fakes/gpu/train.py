"""Plays samples/gpu/train.py: says what that says; its trace is kineto.json of the bundle."""
import argparse
import json
import os
import pathlib
import sys
import time

FAULTS = os.environ.get("FAULTS", "").split(",")
RECORDED = "FAKE_RECORDED" in os.environ
parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, nargs="+", default=[1024])
parser.add_argument("--steps", type=int, nargs="+", default=[60])
parser.add_argument("--seconds", type=float, default=0)
parser.add_argument("--kineto")
parser.add_argument("--backend")
options = parser.parse_args()
refused = (f"{options.backend} refuses" in FAULTS or (f"{options.backend} breaks recorded" in FAULTS and RECORDED)
           or ("pytorch broken" in FAULTS and not options.backend))
if refused:
    print("[rank1] RuntimeError: NCCL error: Duplicate GPU detected", file=sys.stderr)
    sys.exit(1)
if "slow imports" in FAULTS:
    time.sleep(2)
if options.kineto:
    trace = json.loads((pathlib.Path(__file__).parents[1] / "kineto.json").read_text())
    if RECORDED:
        trace["traceEvents"] = []
        print("INFO: If you see CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, refer to the manual", file=sys.stderr)
    pathlib.Path(options.kineto).write_text(json.dumps(trace))
ns = 1100 if options.kineto else 1050 if RECORDED and "dear" in FAULTS else 1005 if RECORDED else 1000
if os.environ.get("RANK", "0") == "0":
    print(json.dumps({"device": "NVIDIA H100", "step_ns": {str(width): [ns] * steps for width, steps in zip(options.width, options.steps)},
                      "more_steps": 30 if options.seconds else 0}))
