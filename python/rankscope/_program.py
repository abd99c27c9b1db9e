"""The program `rankscope` of the wheel: does the work that needs Python; the compiled program does all else."""

from __future__ import annotations

import argparse
import os
import sys

from ._errors import Error
from ._library import find_file


def program() -> str:
    """The path of the compiled program."""
    return str(find_file("rankscope", "RANKSCOPE_PROGRAM"))


def _wants_parquet(words: list[str]) -> bool:
    return words[:1] == ["export"] and ("--to=parquet" in words or "parquet" in [b for a, b in zip(words, words[1:]) if a == "--to"])


def _export_parquet(words: list[str]) -> int:
    from ._run import open, ranks_from
    parser = argparse.ArgumentParser(prog="rankscope export --to parquet", description="Writes every table of a run as a Parquet file.")
    parser.add_argument("paths", nargs="+", metavar="RUN", help="the run to export, followed by the folder to write")
    parser.add_argument("--to", choices=["parquet"])
    parser.add_argument("--steps", help="use only steps A to B, both included (A:B, A: or :B)")
    parser.add_argument("--ranks", help="use only these ranks, e.g. 0,2,4-7")
    parser.add_argument("--rank-map", help="ranks of trace files that do not state their rank: FILE=RANK,...")
    parser.add_argument("--keep-texts", action="store_true", help="show strings as recorded, including secrets")
    options = parser.parse_intermixed_args(words)  # paths may come before and after options
    *runs, out = options.paths
    if not runs:
        parser.error(f"give the run to export and the folder to write: rankscope export {out} --to parquet OUT")
    with open(*runs, rank_map=options.rank_map, keep_texts=options.keep_texts) as run:
        names = run.to_parquet(out, steps=options.steps, ranks=ranks_from(options.ranks))
    print(f"rankscope: wrote {len(names)} tables to {out}", file=sys.stderr)
    return 0


def main() -> int:
    """Runs the command line; replaces this process where Python is not needed."""
    words = sys.argv[1:]
    try:
        if words[:1] == ["mcp"]:
            from .mcp import main as serve
            return serve(words[1:])
        if _wants_parquet(words):
            return _export_parquet(words[1:])
        path = program()
    except Error as problem:
        print(f"rankscope: {problem}", file=sys.stderr)
        return problem.status
    sys.stdout.flush()
    os.execv(path, [path, *words])


if __name__ == "__main__":
    sys.exit(main())
