#!/usr/bin/env python3
"""Checks that files can be compiled together and linked: what they define must have different names.

scripts/check_unity.py [ROOT]

cmake/RankscopeUnity.cmake compiles the files of neighbouring folders together (in the preset dev: smaller parts of them). It is
then an error if two of these files define the same type, constant or function in an anonymous namespace (or as static); this
script finds such names without compiling. Functions with the same name and different parameters are overloads; only the compiler
knows whether a call is still unambiguous. If two headers of a module give one name to different types or constants, the linker
uses either of them without a warning. Prints the name and the files.
"""
import collections
import pathlib
import re
import sys

MODULES = ("core", "collectors", "analyzer", "trainer", "gui", "cli", "python", "tests")
# As in cmake/RankscopeUnity.cmake.
MOST_FILES = 32
SAME_KIND = re.compile(r"(.*)/src/[^/]+/(json|tables|rules)\.cpp")
ENGINE = ("trainer/src/modes", "trainer/src/engine")  # with torch: all of it together
TARGETS = ("collectors/src/inject", "trainer/src/cuda")  # of a library of their own
ALONE = ("tests/collectors/programs", "tests/trainer", "tests/gui/slow", "tests/bench", "tests/fuzz")  # compiled file by file
NOISE = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/|'
                   r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", re.S | re.M)
TEMPLATE = re.compile(r"^template ?<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*> ?")
MACRO = re.compile(r"^(?:[A-Z][A-Z_0-9]+)\b")
SHARED = re.compile(r"^(?:(?:struct|class|enum class) (\w+)(?! *::)(?= ?[:{]| final)|inline constexpr [^=;{]*?\b(\w+) ?[={[])", re.M)
BODY, OPEN = object(), object()  # of a function; of a class, an enumeration or an initializer


def private_names(text):
    """(namespace, name) -> what it is, of everything that only this file sees."""
    text = NOISE.sub(lambda found: '""' if found[0][0] in "R\"'" else " ", text)
    found, scopes, head = {}, [], []
    for part in re.split(r"([{};])", text):
        if part not in ("{", "}", ";"):
            head.append(part)
            continue
        words = " ".join("".join(head).split())
        head = []
        if part == "}":
            # What follows a class or an initializer, up to the semicolon, names nothing new; an argument's default goes on.
            closed = scopes.pop() if scopes else None
            head = ["}"] if closed is OPEN else [closed[0], "0"] if isinstance(closed, tuple) else []
            continue
        if part == "{" and words.count("(") > words.count(")"):
            scopes.append((words,))
        elif all(isinstance(scope, str) for scope in scopes) and not words.startswith("}"):
            namespace = re.fullmatch(r"(?:inline )?namespace ?([\w:]*)", words) if part == "{" else None
            name = None if namespace else declared(words)
            if name and ("" in scopes or re.match(r"(template.*> )?static ", words)):
                found[("::".join(filter(None, scopes)), name[0])] = name[1]
            if part == "{":
                scopes.append(namespace[1] if namespace else BODY if is_function(words) else OPEN)
        elif part == "{":
            scopes.append(OPEN)
    return found


def is_function(words):
    return "(" in words and not re.match(r"[^(]*=|(?:struct|class|enum|union) ", TEMPLATE.sub("", words))


def declared(words):
    words = re.sub(r"^alignas\([^)]*\) ", "", words)
    words = TEMPLATE.sub("", words.replace("[[nodiscard]] ", "").replace("[[maybe_unused]] ", ""))
    if not words or words[0] in ",)" or MACRO.match(words) or words.startswith(("using namespace", "namespace ", "friend ")):
        return None
    alias = re.match(r"using (\w+) ?= ?(.*)", words)
    if alias:
        return alias[1], "alias " + alias[2]
    if words.startswith("using "):
        return None
    kind = re.match(r"(?:struct|class|union|enum class|enum) (?:alignas\([^)]*\) )?(\w+)(?: final)?(?: ?:.*)?$", words)
    if kind:
        return kind[1], "type"
    function = re.match(r"[^=]*?([\w:~]*::)?\b(operator\W+|\w+) ?\((.*)\)[^()]*$", words)
    if function and function[1]:
        return None  # a member
    if function and "=" not in words.split("(")[0]:
        parameters = re.sub(r" ?= ?[^,]*", "", function[3])
        return function[2], "function " + re.sub(r" ?\b\w+(?=,|$)", "", re.sub(r"\bconst\b ?", "", parameters))
    variable = re.match(r"[^=({]*?\b(\w+)(?: ?\[[^\]]*\])* ?(?:=.*|\(.*)?$", words)
    return (variable[1], "variable") if variable and " " in words else None


def clash(kinds):
    if all(kind.startswith("function ") for kind in kinds) and len(set(kinds)) == len(kinds):
        return False  # overloads
    return not (kinds[0].startswith("alias ") and len(set(kinds)) == 1)


def folder_of(name):
    """The folder, or the files of the same kind, that are compiled together with the one of this name in any case."""
    if name.startswith(ENGINE):
        return "trainer/src/engine"
    kind = SAME_KIND.fullmatch(name)
    if kind:
        return f"{kind[1]}/src/*/{kind[2]}.cpp"
    folders = name.split("/")[:-1]
    return "/".join(folders[:folders.index("src") + 2 if "src" in folders else 3])


def library_of(folder):
    """Folders of the same one may be compiled together; those of tests are not."""
    if folder.startswith(ENGINE + TARGETS) or "*" in folder:
        return folder
    return folder.split("/src")[0]


def cold_folders(root):
    """Folders that are compiled with options of their own, and therefore apart."""
    table = re.search(r"^set\(RANKSCOPE_COLD ([^)]*)\)", (root / "cmake/RankscopeUnity.cmake").read_text(), re.M)
    return set(table[1].split())


def units_of(names, cold):
    """Lists of files: whole folders, as they follow each other, up to MOST_FILES; more only where a folder has more."""
    folders = {}
    for name in sorted(names):
        folders.setdefault(folder_of(name), []).append(name)
    units = collections.defaultdict(list)  # of each library
    for folder, files in folders.items():
        of_library = units[library_of(folder), folder in cold]
        if of_library and len(of_library[-1]) + len(files) <= MOST_FILES:
            of_library[-1] += files
        else:
            of_library.append(files)
    return [unit for of_library in units.values() for unit in of_library]


def check(root):
    names = [path.relative_to(root).as_posix() for module in MODULES for path in (root / module).rglob("*.cpp")]
    names = [name for name in names if not name.endswith("/main.cpp") and not name.startswith(ALONE)]
    for unit in units_of(names, cold_folders(root)):
        users = collections.defaultdict(list)
        for name in unit:
            for key, kind in private_names((root / name).read_text()).items():
                users[key].append((name, kind))
        for (_, name), files in sorted(users.items()):
            if len(files) > 1 and clash([kind for _, kind in files]):
                yield f"{name} is defined in {', '.join(file for file, _ in files)}, which are compiled together"


def check_headers(root):
    for module in MODULES[:-1]:
        places = collections.defaultdict(list)
        for path in sorted((root / module).rglob("*.h")):
            text = NOISE.sub("", path.read_text())
            namespace = re.search(r"^namespace ([\w:]+) \{", text, re.M)
            for match in SHARED.finditer(text):
                places[namespace and namespace[1], match[1] or match[2]].append(path.relative_to(root).as_posix())
        for (namespace, name), files in sorted(places.items(), key=str):
            if len(set(files)) > 1:
                yield f"{namespace}::{name} is defined in {', '.join(files)}: the linker may take either"


def main(argv):
    if argv[:1] in (["-h"], ["--help"]):
        return print(__doc__.strip())
    root = pathlib.Path(argv[0]) if argv else pathlib.Path(__file__).parents[1]
    problems = [*check(root), *check_headers(root)]
    print("\n".join(problems) or "units: files that are compiled together define different names")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
