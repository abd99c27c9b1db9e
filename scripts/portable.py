"""What scripts/bundle and scripts/wheel share: what of a build runs on other machines, and what it needs there. Imported, not run."""
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
#: Files of a build that both carry: name in the build folder -> place, relative to the folder that is made.
PROGRAMS = {"rankscope": "bin/rankscope", "librankscope_inject.so": "lib/librankscope_inject.so"}
#: What only the wheel carries.
OF_PYTHON = {"librankscope.so": "lib/librankscope.so"}
# Every Linux with that C library has these, and Qt's or torch's are not ours to carry.
OF_THE_HOST = re.compile(r"^(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|ld-linux-.*|libtorch.*|libc10|libc10_cuda)\.so")
NEWEST_GLIBC = (2, 34)
#: Libraries that are compiled into our programs: their packages in Debian. Their licences ask for a copy of their text.
COMPILED_IN = ("libcli11-dev", "libfmt-dev", "libprotozero-dev", "nlohmann-json3-dev", "libexpected-dev")


def end(*words):
    sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {' '.join(str(word) for word in words)}")


def output_of(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def dynamic(path, tag):
    return re.findall(rf"\({tag}\).*\[(.*)\]", output_of("readelf", "-d", path))


def needed_versions(path):
    """{"GLIBC": (2, 34), "GLIBCXX": (3, 4, 30)}: the newest version of each that a file asks for."""
    found = {}
    for library, version in re.findall(r"Name: (GLIBC|GLIBCXX)_([0-9.]+) ", output_of("readelf", "-VW", path)):
        parts = tuple(int(part) for part in version.split("."))
        found[library] = max(found.get(library, ()), parts)
    return found


def floors(folder):
    """The newest GLIBC that any file of a bundle asks for, and {name: newest GLIBCXX} of those that use a C++ library."""
    glibc, cpp = (0,), {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file() or not is_elf(path):
            continue
        versions = needed_versions(path)
        glibc = max(glibc, versions.get("GLIBC", (0,)))
        if "GLIBCXX" in versions:
            cpp[path.name] = versions["GLIBCXX"]
    return glibc, cpp


def strip(path):
    subprocess.run(["strip", "--strip-unneeded", path], check=True)


def copy(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)
    if is_elf(target):
        strip(target)


def carried_libraries(files, of_the_host=OF_THE_HOST):
    """{name: path} of the shared libraries that these files need, and that those need: all that are not every host's."""
    found, waiting = {}, [*files]
    while waiting:
        file = waiting.pop(0)
        missing = [name for name in dynamic(file, "NEEDED") if not of_the_host.match(name) and name not in found]
        where = dict(re.findall(r"^\s*(\S+) => (/\S+)", output_of("ldd", file), re.M)) if missing else {}
        for name in missing:
            if name not in where:
                end(file.name, "needs", name + ", which is not installed here")
            found[name] = pathlib.Path(where[name])
            waiting.append(found[name])
    return found


def copyright_of(package):
    """Debian's copyright file of a package, whose name may end in an architecture."""
    return pathlib.Path("/usr/share/doc", package.partition(":")[0], "copyright")


def owner_of(file):
    """The Debian package that a file is from, or None."""
    for path in (file, file.resolve(), pathlib.Path("/usr") / str(file).lstrip("/")):
        owner = subprocess.run(["dpkg-query", "-S", str(path)], capture_output=True, text=True)
        package = owner.stdout.split(": ")[0]
        if owner.returncode == 0 and copyright_of(package).exists():
            return package
    return None


def end_without_licence(path):
    end("no licence for", path, "was found (no package owns it)")


def add_programs(folder, build, programs):
    """Copies these files of a build; ends with a message if one was not built."""
    for name, place in programs.items():
        if not (build / "bin" / name).exists():
            end(build / "bin" / name, "is missing: build it first (scripts/test, or cmake --build --preset release)")
        copy(build / "bin" / name, folder / place)


def add_libraries(folder, licences):
    """Copies the shared libraries that programs in bin/ and libraries in lib/ need, with their licences."""
    files = [path for path in (*folder.glob("bin/*"), *folder.glob("lib/*")) if is_elf(path)]
    for name, path in carried_libraries(files).items():
        copy(path.resolve(), folder / "lib" / name)
        shutil.copy2(copyright_of(owner_of(path) or end_without_licence(path)), licences / f"{name}.txt")


def add_compiled_in(licences):
    """The licences of the libraries of which there are only headers, or which are linked statically."""
    for package in COMPILED_IN:
        text = copyright_of(package)
        if not text.exists():
            end(text, "is missing: install", package, "(scripts/setup)")
        shutil.copy2(text, licences / f"{package}.txt")


def check_needed(folder, of_the_host=OF_THE_HOST):
    """Ends with a message unless every library that a file needs is in the folder or on every host."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink() and is_elf(path)]
    carried = {path.name for path in files}
    for path in files:
        for name in dynamic(path, "NEEDED"):
            if name not in carried and not of_the_host.match(name):
                end(path.name, "needs", name + ", which is neither packed nor on every host")


def commit():
    """Which sources this is made of; with "-changed" if they are not as committed."""
    git = subprocess.run(["git", "describe", "--always", "--exclude=*", "--dirty=-changed"], cwd=ROOT, capture_output=True, text=True)
    return git.stdout.strip() or "unknown"


def version():
    return re.search(r"project\(rankscope VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def dotted(parts):
    return ".".join(str(part) for part in parts)
