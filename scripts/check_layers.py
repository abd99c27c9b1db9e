#!/usr/bin/env python3
"""Checks that includes go only along the arrows of cmake/RankscopeModule.cmake.

scripts/check_layers.py [ROOT]

For each source file of each module: "rankscope/<module>/..." must be a module that the table allows, a private header
must belong to the same module, only gui may use Qt, and only trainer may use libtorch. In a module with subjects, a file may
include headers of its own folder or of an earlier one, so that there is no cycle. A public header beside the folders counts as
part of the last subject that it includes. Files that print or judge the results of all subjects (tables.cpp, chart.cpp,
json.cpp, rules.cpp) may include any of these headers. No header may include itself through others. In a module without subjects
(gui), no folder may include itself through others. No folder may have more than 40 files, no public header more than 150 lines,
and no .cpp of a module but tests more than 400 lines.
Prints each wrong include as FILE:LINE: why.
"""
import collections
import graphlib
import pathlib
import re
import sys

THIRD_PARTY = [  # include, the modules that may have it, its name
    (re.compile(r"<(Qt?[A-Z]\w*)[/>]"), {"gui"}, "Qt"),
    (re.compile(r"[<\"](torch|ATen|c10)/"), {"trainer"}, "libtorch"),
]
INCLUDE = re.compile(r"^\s*#\s*include\s*([<\"])([^>\"]+)[>\"]")
SUFFIXES = {".h", ".hpp", ".cpp", ".cc", ".c", ".cu", ".cuh", ".inc"}


WHOLE_REPORT = re.compile(r"(?:\w+_)?(?:tables|chart|json|rules)\.cpp")  # they may read any section of a report
MOST_LINES = 150  # of a public header: more are several things
MOST_LINES_OF_SOURCE = 400  # of a .cpp: more have several jobs
MOST_FILES = 40  # of one folder: more have no subject in common


def subject_orders(root):
    """module -> {subject: place}"""
    text = (root / "cmake/RankscopeModule.cmake").read_text()
    rows = re.findall(r"^set\(RANKSCOPE_SUBJECTS_(\w+)\s+([^)]*)\)", text, re.M)
    return {module: {name: place for place, name in enumerate(names.split())} for module, names in rows}


def subject_among(folders, order):
    """The longest path of the folders that is a subject, else the first folder; None for files beside the folders."""
    paths = ["/".join(folders[:depth]) for depth in range(len(folders), 0, -1)]
    return next((path for path in paths if path in order), folders[0] if folders else None)


def subject_of(path, order):
    """The folder below src or include/rankscope/<module>; None for files beside the folders."""
    parts = path.parts
    if "src" in parts:
        inside = parts[parts.index("src") + 1:]
    elif "rankscope" in parts:
        inside = parts[parts.index("rankscope") + 2:]
    else:
        return None
    return subject_among(inside[:-1], order)


def includes(path):
    found = (INCLUDE.match(line) for line in path.read_text(errors="replace").splitlines())
    return [match[2] for match in found if match]


def last_used(root, module, target, order, seen=()):
    """The last subject that a public header beside the subjects includes, itself or through others beside them."""
    header = root / module / "include" / target
    if target in seen or not header.is_file():
        return None
    inner = [name for name in includes(header) if name.startswith(f"rankscope/{module}/")]
    used = [subject_among(name.split("/")[2:-1], order) if name.count("/") > 2
            else last_used(root, module, name, order, (*seen, target)) for name in inner]
    return max((subject for subject in used if subject in order), key=order.get, default=None)


def wrong_order(root, path, target, order):
    """Why a file of a module with subjects may not include a header of the same module."""
    own = subject_of(path, order)
    if own is None:
        return None
    if own not in order:
        return f"the subject {own} is not in RANKSCOPE_SUBJECTS_{path.parts[0]}"
    public = target.startswith(f"rankscope/{path.parts[0]}/")
    inside = target.split("/")[2:] if public else target.split("/")
    if len(inside) < 2 and not public:
        private = (root / path.parts[0] / "src" / target).is_file()
        return "a header beside the subjects may use all of them" if private else None
    if len(inside) < 2:
        used = None if WHOLE_REPORT.fullmatch(path.name) else last_used(root, path.parts[0], target, order)
        if used and order[used] > order[own]:
            return f"it includes {used}, which comes after {own} in RANKSCOPE_SUBJECTS_{path.parts[0]}"
        return None
    used = subject_among(inside[:-1], order)
    if used in order and order[used] > order[own]:
        return f"{used} comes after {own} in RANKSCOPE_SUBJECTS_{path.parts[0]}"
    return None


def unlisted_folders(root, orders):
    """Source folders that are neither a subject nor part of one. If one folder inside another is a subject, all folders in it must be."""
    for module, order in orders.items():
        inside = {path.parent.relative_to(top).as_posix() for top in (root / module / "src", root / module / "include/rankscope" / module)
                  for path in top.rglob("*") if path.suffix in SUFFIXES and path.parent != top}
        for folder in sorted(inside):
            subject = subject_among(folder.split("/"), order)
            divided = subject != folder and any(name.startswith(f"{subject}/") for name in order)
            if subject not in order or divided:
                yield f"{module}: the folder {folder} is not in RANKSCOPE_SUBJECTS_{module}"


def crowded_folders(root, modules):
    for module in modules:
        for folder in sorted(p for p in (root / module).rglob("*") if p.is_dir()):
            files = sum(p.suffix in SUFFIXES for p in folder.iterdir())
            if files > MOST_FILES and module != "tests":
                yield f"{folder.relative_to(root)}: {files} files, more than {MOST_FILES}: divide them by subject"


def long_headers(root, modules):
    for module in modules:
        for header in sorted((root / module).glob("**/include/**/*.h")):
            lines = len(header.read_text(errors="replace").splitlines())
            if lines > MOST_LINES:
                yield f"{header.relative_to(root)}: {lines} lines, more than the {MOST_LINES} that a public header may have"


def long_sources(root, modules):
    for module in modules:
        for source in sorted((root / module).rglob("*.cpp")) if module != "tests" else ():
            lines = len(source.read_text(errors="replace").splitlines())
            if lines > MOST_LINES_OF_SOURCE:
                yield f"{source.relative_to(root)}: {lines} lines, more than the {MOST_LINES_OF_SOURCE} that a .cpp may have"


def allowed_arrows(root):
    text = (root / "cmake/RankscopeModule.cmake").read_text()
    rows = re.findall(r"^set\(RANKSCOPE_ALLOWED_(\w+)\s+([^)]*)\)", text, re.M)
    return {module: {module, *used.replace('"', "").split()} for module, used in rows}


def owner(path, modules):
    """tests/gui/x.cpp counts as gui for third parties, any file else as the module of its first folder."""
    return path.parts[1] if path.parts[0] == "tests" and path.parts[1] in modules else path.parts[0]


def wrong(root, path, quote, target, arrows):
    module = path.parts[0]
    used = re.match(r"rankscope/(\w+)/", target)
    if used:
        if used[1] not in arrows:
            return f"unknown module {used[1]}"
        if used[1] not in arrows[module]:
            return f"{module} may not use {used[1]}; it may use: {' '.join(sorted(arrows[module] - {module})) or 'nothing'}"
        return None
    for pattern, modules, name in THIRD_PARTY:
        if pattern.match(("<" if quote == "<" else '"') + target + ">") and owner(path, arrows) not in modules:
            return f"{name} belongs to {' '.join(sorted(modules))}"
    if quote == '"' and module != "tests":
        beside = (root / path.parent / target).resolve()
        if beside.is_file() and not beside.is_relative_to((root / module).resolve()):
            return "a private header of another module"
        above = [root / folder for folder in list(path.parents)[:-1]] + [root / module / "src"]
        if not any((folder / target).is_file() for folder in above):
            return f"{module} has no such header of its own"
    return None


def resolve(root, path, target):
    """The file of the project that an include names, as the compiler finds it; None for libraries."""
    above = [root / folder for folder in list(path.parents)[:-1]]
    public = root.glob(f"{target.split('/')[1]}/**/include/{target}") if target.startswith("rankscope/") else ()
    places = (*(folder / target for folder in above), root / path.parts[0] / "src" / target, *public)
    return next((place.resolve().relative_to(root.resolve()) for place in places if place.is_file()), None)


def circles(root, modules, orders):
    """Headers, and folders of modules without subjects, that include themselves through others."""
    headers, folders = collections.defaultdict(set), collections.defaultdict(set)
    for path in sorted(p for module in modules if module != "tests" for p in (root / module).rglob("*") if p.suffix in SUFFIXES):
        own = path.relative_to(root)
        for used in filter(None, (resolve(root, own, target) for target in includes(path))):
            if own.suffix in (".h", ".hpp"):
                headers[own].add(used)
            places = [folder_of(one) for one in (own, used)]
            if own.parts[0] == used.parts[0] and own.parts[0] not in orders and places[0] != places[1]:
                folders[places[0]].add(places[1])
    for graph in (headers, folders):
        try:
            graphlib.TopologicalSorter(graph).prepare()
        except graphlib.CycleError as problem:
            yield "a circle of includes: " + " -> ".join(str(one) for one in reversed(problem.args[1]))


def folder_of(path):
    """A folder of sources, and the folder of public headers that has its name, are one."""
    parts = path.parts[:-1]
    if "include" in parts:
        return "/".join(parts[:parts.index("include")] + parts[parts.index("include") + 4:])
    return "/".join(part for part in parts if part != "src")


def check(root):
    arrows = allowed_arrows(root)
    orders = subject_orders(root)
    yield from crowded_folders(root, arrows)
    yield from long_headers(root, arrows)
    yield from long_sources(root, arrows)
    yield from circles(root, arrows, orders)
    yield from unlisted_folders(root, orders)
    for path in sorted(p for module in arrows for p in (root / module).rglob("*") if p.suffix in SUFFIXES):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            found = INCLUDE.match(line)
            relative = path.relative_to(root)
            reason = found and wrong(root, relative, found[1], found[2], arrows)
            if found and not reason and relative.parts[0] in orders:
                reason = wrong_order(root, relative, found[2], orders[relative.parts[0]])
            if reason:
                yield f"{path.relative_to(root)}:{number}: {found[2]}: {reason}"


def main(argv):
    if argv[:1] in (["-h"], ["--help"]):
        return print(__doc__.strip())
    problems = list(check(pathlib.Path(argv[0]) if argv else pathlib.Path(__file__).parents[1]))
    print("\n".join(problems) or "layers: every include follows the table")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
