#!/usr/bin/env python3
"""Checks names in this checkout: no file contains a path of one particular machine, and source files are named in snake_case.
Also checks that numbers are read from text only with core/numbers.h, which checks their bounds and rejects trailing characters,
and that medians are computed only with core/median.h.

scripts/check_names.py [ROOT]

Looks at the files that git tracks or would add (all files if there is no git). Prints FILE:LINE: what was found.
"""
import pathlib
import re
import subprocess
import sys

MACHINE_PATH = re.compile(r"(?<![\w./$}-])/(?:work/|farm/|home/\w+/|Users/\w+/|root/\.)\w+")
SOURCE_NAME = re.compile(r"[a-z0-9_]+\.(?:cpp|h|cu|cuh)$")
SOURCES = {".cpp", ".h", ".cu", ".cuh"}
PRODUCT = {"core", "collectors", "trainer", "analyzer", "gui", "cli", "python"}
PARSER = re.compile(r"\b(?:from_chars|sto(?:i|l|ll|ul|ull|f|d|ld)|ato(?:i|l|ll|f)|strto(?:l|ll|ul|ull|f|d|ld))\b(?=\()")
# Of Qt only with an argument: without one it may be a value that is a number already (QVariant, QJsonValue).
TEXT_METHOD = re.compile(r"\.to(?:U?Int|U?Short|U?Long(?:Long)?|Float|Double)\((?=[^)\s])|\bistringstream\b")
PARSERS = {
    "core/src/numbers.cpp",  # the parser
    "core/src/model/text_words.cpp",  # counters of a run as text may be nan or inf
    "trainer/src/launch/cpu_features.cpp",  # words of a stream, no numbers
}
# The value in the middle of a vector: values[values.size() / 2], values.begin() + std::ssize(values) / 2.
MIDDLE = re.compile(r"\[\(?[\w.]*size\([\w.]*\)(?: - 1\))? / 2(?: - 1)?\]|[.]begin\(\) \+ [^;]*size\([^;]* / 2\b")
MEDIANS = {
    "core/src/median.cpp",  # the median
    "analyzer/src/scaling/monte_carlo.cpp",  # one of many systems; which of the two in the middle changes all draws
}


def files(root):
    git = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, capture_output=True)
    if listed.returncode == 0:
        return [root / name for name in listed.stdout.decode().split("\0") if name]
    return [path for path in root.rglob("*") if not {"build", ".venv", "out"} & set(path.relative_to(root).parts)]


def check(root):
    for path in sorted(files(root)):
        if not path.is_file():
            continue
        name = path.relative_to(root)
        if path.suffix in SOURCES and not SOURCE_NAME.match(path.name):
            yield f"{name}: source files are named in snake_case"
        data = path.read_bytes()
        if b"\0" in data[:8192]:
            continue
        for number, line in enumerate(data.decode(errors="replace").splitlines(), 1):
            found = MACHINE_PATH.search(line)
            if found:
                yield f"{name}:{number}: path of one machine: {found[0]}"
            if path.suffix not in SOURCES or name.parts[0] not in PRODUCT:
                continue
            parser = PARSER.search(line) or TEXT_METHOD.search(line)
            if parser and name.as_posix() not in PARSERS:
                yield f"{name}:{number}: {parser[0]}: use a function of rankscope/core/numbers.h"
            middle = MIDDLE.search(line)
            if middle and name.as_posix() not in MEDIANS:
                yield f"{name}:{number}: {middle[0]}: use median() or median_row() of rankscope/core/median.h"


def main(argv):
    if argv[:1] in (["-h"], ["--help"]):
        return print(__doc__.strip())
    problems = list(check(pathlib.Path(argv[0]) if argv else pathlib.Path(__file__).parents[1]))
    print("\n".join(problems) or "names: no file contains a path of one machine, and all sources, numbers and medians follow the rules")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
