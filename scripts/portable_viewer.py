"""What of the viewer travels in its wheel (scripts/wheel --viewer), and what the host must have. Imported, not run.

Everything travels except the C library, the C++ runtime and expat. Most programs with Qt take OpenGL, X11 and fontconfig from the host,
too (AppImage's excludelist names them), for three reasons that do not hold here:

- A driver of the host must match libGL, libEGL, libX11 and libxcb. The viewer paints without OpenGL; QtGui is only linked to the
  dispatching libraries of libglvnd. No plugin that asks for a driver travels (xcbglintegrations, wayland-egl), so none is loaded.
- Libraries of the host may be loaded into the same process, and may need newer versions of ours. qt.conf gives the viewer its own plugins
  only; what is left is libXcursor, which libX11 loads if the host has it, and which needs little of libX11.
- Every desktop has them. But `rankscope view --picture` and a window over `ssh -X` are wanted on servers and in containers, too, which
  have neither X11 nor fontconfig.

What the libraries find through fixed paths (settings of fontconfig, fonts, keyboard tables, cursors) is the host's, so that the viewer
looks as other programs do there. The fonts that travel are for hosts that have none.

Left to the host:

- libc and its parts: they cannot travel. Qt of Debian 12 needs glibc 2.35 (Ubuntu 22.04).
- libstdc++ and libgcc_s: a host with glibc 2.35 has those of GCC 12, too, which is all that Qt needs; Debian's own need glibc 2.36.
- libexpat, for the same reason: Debian's needs glibc 2.36. It has had one ABI since 2001, and Python, D-Bus or fontconfig of the host
  bring it along. Where it is missing, `rankscope view` says what to install (cli/src/needed_libraries.cpp).
"""
import pathlib
import re
import shutil

from portable import (OF_THE_HOST, add_compiled_in, add_programs, carried_libraries, copy, copyright_of, dynamic, end, end_without_licence,
                      is_elf, output_of, owner_of)

NEWEST_GLIBC_OF_VIEWER = (2, 35)
NEWEST_GLIBCXX_OF_VIEWER = (3, 4, 30)  # of GCC 12
OF_THE_HOST_OF_VIEWER = re.compile(rf"{OF_THE_HOST.pattern}|^(libresolv|libexpat)\.so")
PROGRAM = {"rankscope-gui": "bin/rankscope-gui"}
LIBRARIES = "viewer/lib"
PLUGINS = (
    "platforms/libqxcb.so", "platforms/libqwayland-generic.so", "platforms/libqoffscreen.so", "platforms/libqvnc.so",
    "wayland-shell-integration/libxdg-shell.so", "wayland-shell-integration/libwl-shell-plugin.so",
    "wayland-shell-integration/libqt-shell.so", "wayland-shell-integration/libfullscreen-shell-v1.so",
    "wayland-shell-integration/libivi-shell.so", "wayland-decoration-client/libbradient.so",
    "platforminputcontexts/libcomposeplatforminputcontextplugin.so", "platforminputcontexts/libibusplatforminputcontextplugin.so",
    "iconengines/libqsvgicon.so", "imageformats/libqsvg.so",
)
FONTS = ("DejaVuSans.ttf", "DejaVuSans-Bold.ttf", "DejaVuSansMono.ttf")
#: The settings of the host if it has any, and our fonts for what its fonts do not have (all, where there is none).
FONTS_CONF = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
  <dir>/usr/share/fonts</dir>
  <dir prefix="relative">.</dir>
  <alias><family>sans-serif</family><default><family>DejaVu Sans</family></default></alias>
  <alias><family>monospace</family><default><family>DejaVu Sans Mono</family></default></alias>
  <cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""
#: Texts that Debian's copyright files refer to.
COMMON_LICENCES = pathlib.Path("/usr/share/common-licenses")
QT_CONF = "[Paths]\nPrefix = ../viewer\nPlugins = plugins\n"
LICENCES = """\
rankscope-gui is licensed under Apache-2.0 (LICENSE) and linked dynamically to the libraries below. These are files of Debian packages,
unchanged except that symbols for debugging are removed; each may be replaced by another version of it. Among them is Qt, under
LGPL-3.0-only. Beside this file are the licences of each source package, and the general licences that these refer to. The source code of
VERSION of SOURCE is at https://snapshot.debian.org/package/SOURCE/VERSION/.

FILE\tSOURCE\tVERSION
"""


def qt_folder():
    """Where the Qt of this machine has its plugins."""
    query = shutil.which("qmake6") or end("qmake6 is missing: install qt6-base-dev (scripts/setup)")
    return pathlib.Path(output_of(query, "-query", "QT_INSTALL_PLUGINS").strip())


def add_plugins(folder):
    """Copies them; returns {place: path they are from}."""
    found = {f"viewer/plugins/{name}": qt_folder() / name for name in PLUGINS}
    for place, path in found.items():
        if not path.exists():
            end(path, "is missing: install qt6-qpa-plugins, qt6-svg-dev and qt6-wayland (scripts/setup)")
        copy(path, folder / place)
    return found


def add_fonts(folder):
    fonts = pathlib.Path("/usr/share/fonts/truetype/dejavu")
    found = {f"viewer/fonts/{name}": fonts / name for name in FONTS}
    for place, path in found.items():
        if not path.exists():
            end(path, "is missing: install fonts-dejavu-core (scripts/setup)")
        copy(path, folder / place)
    (folder / "viewer/fonts/fonts.conf").write_text(FONTS_CONF)
    return found


def add_licences(carried, licences):
    """What is carried, of which version of which Debian source package, with the texts of their licences."""
    rows, texts = [], set()
    for place, path in sorted(carried.items()):
        package = owner_of(path) or end_without_licence(path)
        source, version = output_of("dpkg-query", "-W", "-f", "${source:Package} ${source:Version}\n", package).splitlines()[0].split()
        text = copyright_of(package)
        shutil.copyfile(text, licences / f"{source}.txt")
        texts |= set(re.findall(r"common-licenses/([A-Z][\w-]*(?:\.\d+)*)", text.read_text(errors="replace")))
        rows.append(f"{place}\t{source}\t{version}\n")
    for name in texts:
        if (COMMON_LICENCES / name).exists():  # some copyright files name texts that never were there
            shutil.copyfile(COMMON_LICENCES / name, licences / f"{name}.txt")
    (licences / "LICENCES.txt").write_text(LICENCES + "".join(rows))


def fill_viewer(folder, build, licences):
    """The program with all that it needs, below bin/ and viewer/ of the folder of the Python package."""
    add_programs(folder, build, PROGRAM)
    program = folder / PROGRAM["rankscope-gui"]
    if dynamic(program, "RPATH")[:1] != ["$ORIGIN/../" + LIBRARIES]:
        end(build / "bin/rankscope-gui", f"does not look for libraries in ../{LIBRARIES}: build it with Qt of this system")
    (folder / "bin/qt.conf").write_text(QT_CONF)
    carried = {**add_plugins(folder), **add_fonts(folder)}
    files = [program, *(path for path in carried.values() if is_elf(path))]
    for name, path in carried_libraries(files, OF_THE_HOST_OF_VIEWER).items():
        copy(path.resolve(), folder / LIBRARIES / name)
        carried[f"{LIBRARIES}/{name}"] = path
    add_licences(carried, licences)
    add_compiled_in(licences)
