#!/usr/bin/env python3
"""perfetto_schema_test.py TRACE: decodes a Perfetto trace with protoc and perfetto.proto beside this file; fails on any
field that the schema does not know, and when something that every trace has is missing. 77 without protoc."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

NEEDED = ("track_event", "interned_data", "clock_snapshot", "track_descriptor", "trace_packet_defaults", "TYPE_SLICE_END",
          "SIBLING_MERGE_BEHAVIOR_NONE", "is_incremental: true")


def main():
    if not shutil.which("protoc"):
        print("perfetto_schema_test: cannot run: no protoc (apt install protobuf-compiler)")
        return 77
    here = Path(__file__).resolve().parent
    with open(sys.argv[1], "rb") as trace:
        done = subprocess.run(["protoc", f"--proto_path={here}", "--decode=Trace", "perfetto.proto"], stdin=trace,
                              capture_output=True, text=True)
    if done.returncode != 0:
        print(f"protoc cannot decode {sys.argv[1]}: {done.stderr.strip()}")
        return 1
    unknown = [line for line in done.stdout.splitlines() if re.match(r"^ *[0-9]+[:{ ]", line)]
    missing = [word for word in NEEDED if word not in done.stdout]
    print(f"{done.stdout.count('packet {')} packets, {len(unknown)} unknown fields {unknown[:5]}, missing: {missing}")
    return 1 if unknown or missing else 0


if __name__ == "__main__":
    sys.exit(main())
