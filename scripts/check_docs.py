#!/usr/bin/env python3
"""Checks the documentation as far as a program can.

scripts/check_docs.py [ROOT]

It checks that
- every id of docs/metrics.md that source, tests or docs cite ("metrics.md 6.2", or "(6.2)" in a comment) is defined there,
- links lead to files and headings that exist, and files that docs mention exist,
- every page of docs is linked from somewhere (if there is a README),
- each page of docs/evidence says at which commit it was measured, each row of docs/adding.md names an example commit, and these
  commits exist,
- docs/dependencies.md lists every package that scripts/setup installs,
- README.md fits on two screens.

Prints each fault as FILE:LINE: why. Without the history (in a copy or a shallow clone), it says on stderr that it did not look for the commits.
"""
import bisect
import pathlib
import re
import subprocess
import sys

FOLDERS = ("analyzer", "core", "collectors", "trainer", "gui", "cli", "tests", "scripts", "docs", "samples", "cmake", "python")
C_LIKE = {".h", ".cpp", ".cu"}
SUFFIXES = C_LIKE | {".py", ".cmake", ".txt", ".js", ".md", ""}
ABBREVIATING = ("analyzer/", "core/", "gui/")  # where a comment cites metrics.md by "(6.2)" alone
LONGEST_README = 80  # lines, on two screens

ID = r"(?:[CK]\d|\d{1,2}(?:\.\d{1,2})?)(?![\w%])"
FINE = r"(?:[CK]\d|\d{1,2}\.\d{1,2})"
BETWEEN = r"(?:, and | and | to | - |, )"
DEFINED = re.compile(r"^(?:#+ |\| |\**)([CK]\d|\d{1,2}(?:\.\d{1,2})?)(?= )", re.M)
CITED = re.compile(rf"metrics(?:\.md)?\)?,? ({ID}(?:{BETWEEN}{ID})*)")  # also "[metrics](metrics.md), 7"
SHORT = re.compile(rf"\(({FINE}(?:{BETWEEN}{FINE})*)(?=[:;)])|\b(?:of|by) ({FINE})(?=[.,:;)]*(?: [A-Z]|$))")
LINK = re.compile(r"\]\(([^)\s]+)\)")
MENTIONED = re.compile(rf"(?<![\w/.$@-])((?:{'|'.join(FOLDERS)})/[\w./*{{}},-]+[\w/*}}])(?![<…\w-])")
CODE_FILE = re.compile(r"`(\w+\.(?:cpp|h))`")
MEASURED_AT = re.compile(r"\bcommits? `?[0-9a-f]{7,40}\b")
HASH = re.compile(r"(?:`|commit )([0-9a-f]{7,40})\b")


class Page:
    """A file as one line: the end of a line and the sign of a comment are a blank, so that citations may go over it."""

    def __init__(self, name, text):
        self.name, self.text = name, text
        self.suffix = pathlib.PurePath(name).suffix
        self.lines = text.splitlines()
        self.all, self.comments = Flat(), Flat()
        for number, line in enumerate(self.lines, 1):
            code, sign, comment = line.partition("//") if self.suffix in C_LIKE else ("", "", line)
            comment = comment.lstrip("/<! ") if sign else comment.lstrip("# ") if self.suffix == ".py" else comment
            self.all.add(number, comment if sign else code or comment)
            self.comments.add(number, comment)


class Flat:
    def __init__(self):
        self.text, self.starts, self.numbers = "", [], []

    def add(self, number, words):
        if not words.strip():
            self.text += "\n" if not self.text.endswith("\n") else ""  # what stands apart is not read together
            return
        self.starts.append(len(self.text))
        self.numbers.append(number)
        self.text += words.strip() + " "

    def line(self, position):
        return self.numbers[bisect.bisect_right(self.starts, position) - 1]


def slug(heading):
    """The anchor that GitHub gives a heading."""
    heading = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")


def anchors(text):
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, re.M)}


def alternatives(path):
    """a{b,c}d -> abd, acd"""
    found = re.search(r"\{([^{}]*)\}", path)
    if not found:
        return [path]
    return [whole for part in found[1].split(",") for whole in alternatives(path[: found.start()] + part + path[found.end():])]


class Check:
    def __init__(self, root):
        self.root, self.faults, self.notes, self.pages = root, [], [], {}
        files = [*root.glob("*.md"), *(path for folder in FOLDERS for path in (root / folder).rglob("*"))]
        self.files = sorted(path for path in files if path.is_file() and "__pycache__" not in path.parts)
        self.names = {path.name for path in self.files}
        for path in self.files:
            name = path.relative_to(root).as_posix()
            if path.suffix in SUFFIXES and not name.startswith(("tests/lint/", "tests/golden/", "tests/fuzz/corpus/")):
                self.pages[name] = Page(name, path.read_text(errors="replace"))
        self.docs = [page for name, page in self.pages.items() if name.endswith(".md")]

    def fault(self, page, line, why):
        self.faults.append((page.name, line, why))

    def ids(self):
        metrics = self.pages.get("docs/metrics.md")
        defined = set(DEFINED.findall(metrics.text)) if metrics else set()
        for page in self.pages.values():
            cited = [(page.all, found.start(), found[1]) for found in CITED.finditer(page.all.text)]
            if page is metrics or (page.suffix in C_LIKE and page.name.startswith(ABBREVIATING)):
                cited += [(page.comments, found.start(), found[1] or found[2]) for found in SHORT.finditer(page.comments.text)]
            for flat, position, ids in cited:
                for one in re.findall(r"[CK]?\d+(?:\.\d+)?", ids):
                    if one not in defined:
                        self.fault(page, flat.line(position), f"{one} is not defined in docs/metrics.md")

    def links(self):
        for page in self.docs:
            for number, line in enumerate(page.lines, 1):
                for target in LINK.findall(line):
                    if re.match(r"\w+:", target):
                        continue
                    path, _, anchor = target.partition("#")
                    file = (self.root / page.name).parent / path if path else self.root / page.name
                    if not file.exists():
                        self.fault(page, number, f"{target} does not exist")
                    elif anchor and file.suffix == ".md" and anchor not in anchors(file.read_text()):
                        self.fault(page, number, f"{target}: there is no such heading")

    def unlinked(self):
        linked = set()
        for page in self.docs:
            for target in LINK.findall(page.text):
                file = (self.root / page.name).parent / target.partition("#")[0]
                if not re.match(r"\w+:", target) and file.resolve() != (self.root / page.name).resolve():
                    linked.add(file.resolve())
        for page in self.docs:
            if "README.md" in self.pages and page.name.startswith("docs/") and (self.root / page.name).resolve() not in linked:
                self.fault(page, 1, "nothing links to this page")

    def exists(self, path):
        module, _, rest = path.partition("/")  # "core/result.h" is core/include/rankscope/core/result.h
        places = (path, f"{module}/include/rankscope/{module}/{rest}")
        return any(next(self.root.glob(place.rstrip("/")), None) for place in places)

    def mentioned_files(self):
        for page in self.docs:
            if page.name == "CHANGELOG.md":
                continue  # tells what was
            for number, line in enumerate(page.lines, 1):
                for found in MENTIONED.findall(re.sub(r"\]\([^)]*\)", "]", line)):
                    for path in alternatives(found):
                        if not self.exists(path):
                            self.fault(page, number, f"{path} does not exist")
                for name in CODE_FILE.findall(line):
                    if name not in self.names:
                        self.fault(page, number, f"there is no file {name}")
        for page in self.pages.values():
            if page.suffix in C_LIKE:
                for number, line in enumerate(page.lines, 1):
                    for name in re.findall(r"(?<![\w/])docs/[\w/-]+\.md", line):
                        if name not in self.pages:
                            self.fault(page, number, f"{name} does not exist")

    def git(self, *words):
        return subprocess.run(["git", "-C", str(self.root), *words], capture_output=True, text=True, check=False).stdout.strip()

    def in_history(self, commit):
        """A commit of another branch, or one that was rebased, is in this repository, but not in a clone of it."""
        return subprocess.run(["git", "-C", str(self.root), "merge-base", "--is-ancestor", commit, "HEAD"], capture_output=True, check=False).returncode == 0

    def commits(self):
        named = []
        for page in self.docs:
            if page.name.startswith("docs/evidence/") and not MEASURED_AT.search(page.text):
                self.fault(page, 1, 'a page of evidence must say "at commit ..."')
            for number, line in enumerate(page.lines, 1):
                named += [(page, number, found) for found in HASH.findall(line)]
                row = page.name == "docs/adding.md" and line.startswith("| ") and not line.startswith("| add a")
                if row and not HASH.search(line):
                    self.fault(page, number, "this row names no example commit")
        if not (self.root / ".git").exists() or self.git("rev-parse", "--is-shallow-repository") != "false":
            if named:
                self.notes.append("not checked: whether the commits exist that pages name, since this copy or clone lacks the history")
            return
        for page, number, commit in named:
            if not self.in_history(commit):
                self.fault(page, number, f"commit {commit} is not in the history of HEAD")

    def packages(self):
        listed = self.pages.get("docs/dependencies.md")
        for name in ("scripts/packages.txt", "scripts/requirements.txt"):
            page = self.pages.get(name)
            for number, line in enumerate(page.lines if page else [], 1):
                package = re.match(r"[a-z0-9][\w.+-]*", line)
                if package and (listed is None or f"`{package[0]}`" not in listed.text):
                    self.fault(page, number, f"{package[0]} is not listed in docs/dependencies.md")

    def readme(self):
        page = self.pages.get("README.md")
        if page and len(page.lines) > LONGEST_README:
            self.fault(page, LONGEST_README, f"README has {len(page.lines)} lines; {LONGEST_README} fit on two screens")


def main(arguments):
    if arguments[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    check = Check(pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).resolve().parents[1]))
    for part in (check.ids, check.links, check.unlinked, check.mentioned_files, check.commits, check.packages, check.readme):
        part()
    for note in check.notes:
        print(note, file=sys.stderr)
    for name, line, why in sorted(set(check.faults)):
        print(f"{name}:{line}: {why}")
    return 1 if check.faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
