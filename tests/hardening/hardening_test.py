#!/usr/bin/env python3
"""Looks at programs with readelf: position-independent, symbols bound at the start, tables of addresses read-only. With --code,
also that their functions check their stacks and the sizes of buffers."""

import argparse
import re
import subprocess
import sys


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], check=True, capture_output=True, text=True).stdout


def problems(path, code):
    dynamic, segments = readelf("-d", path), readelf("-l", path)
    if "Elf file type is DYN (Position-Independent Executable" not in segments:
        yield "is not position-independent"
    if "GNU_RELRO" not in segments:
        yield "has no read-only relocations"
    if not re.search(r"BIND_NOW|\(FLAGS_1\).*\bNOW\b", dynamic):
        yield "does not bind its symbols at the start"
    if code:
        symbols = readelf("--dyn-syms", path)
        if "__stack_chk_fail" not in symbols:
            yield "was compiled without a stack protector"
        if "_chk@" not in symbols:
            yield "was compiled without _FORTIFY_SOURCE"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--code", action="store_true")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    found = [f"{path} {problem}" for path in options.programs for problem in problems(path, options.code)]
    print("\n".join(found) or f"{len(options.programs)} programs are hardened")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
