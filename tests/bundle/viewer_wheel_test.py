#!/usr/bin/env python3
"""viewer_wheel_test.py BUILD: makes both wheels of BUILD with scripts/wheel, installs them in a fresh environment without a network, and
uses the viewer there. Exit status 77: all that could be tested is fine, but something was skipped (the reason is printed)."""
import contextlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

sys.dont_write_bytecode = True
from wheels import ROOT, check_record, environment, make, run  # noqa: E402

from portable_viewer import LIBRARIES, OF_THE_HOST_OF_VIEWER, PLUGINS  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else ROOT / "build/release"
DEMO = ROOT / "samples/demo.rankscope"


class ViewerWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="rankscope viewer ")
        cls.folder = pathlib.Path(cls.scratch.name)
        make(BUILD, cls.folder)
        cls.wheel = make(BUILD, cls.folder, "--viewer")
        cls.venv = environment(cls.folder, "rankscope[viewer]")
        (cls.package,) = cls.venv.glob("lib/python3*/site-packages/rankscope")

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def view(self, *words, **variables):
        return run(self.venv / "bin/rankscope", "view", *words, folder=self.folder, **variables)

    def picture(self, name, **variables):
        """The bytes of one of the sample."""
        file = self.folder / name
        drawn = self.view(DEMO, "--picture", file, **variables)
        self.assertEqual(drawn.returncode, 0, drawn.stderr)
        self.assertEqual(len(drawn.stderr.splitlines()), 1, drawn.stderr)  # "wrote ..."
        picture = file.read_bytes()
        self.assertEqual((picture[1:4], int.from_bytes(picture[16:20], "big")), (b"PNG", 1600))
        return picture

    def test_its_name_says_what_it_runs_on(self):
        found = re.fullmatch(r"rankscope_viewer-[\d.]+-py3-none-manylinux_2_(\d+)_\w+\.whl", self.wheel.name)
        self.assertLessEqual(int(found[1]), 35)
        self.assertLessEqual(self.wheel.stat().st_size, 40 * 2**20)

    def test_every_file_is_in_its_record(self):
        check_record(self, self.wheel)

    def test_every_file_of_others_has_its_licence(self):
        with zipfile.ZipFile(self.wheel) as archive:
            names = set(archive.namelist())
            (page,) = [name for name in names if name.endswith("licenses/LICENCES.txt")]
            rows = [line.split("\t") for line in archive.read(page).decode().partition("FILE\t")[2].splitlines()[1:]]
            ours = {name for name in names if name.startswith("rankscope/viewer/") and not name.endswith(".conf")}
            self.assertEqual({f"rankscope/{row[0]}" for row in rows}, ours)
            folder = page.rpartition("/")[0]
            for _, source, _ in rows:
                self.assertIn(f"{folder}/{source}.txt", names)
            self.assertIn("GNU LESSER GENERAL PUBLIC LICENSE", archive.read(f"{folder}/LGPL-3.txt").decode())
            self.assertIn(f"{folder}/GPL-3.txt", names)  # LGPL-3 adds to it
            self.assertIn("qt6-base", {row[1] for row in rows})

    def test_the_picture_is_drawn_without_a_display(self):
        self.picture("offscreen.png")

    def test_no_library_of_the_host_is_used_but_those_that_it_must_have(self):
        ours = self.package / LIBRARIES
        program = run("/usr/bin/ldd", self.package / "bin/rankscope-gui", folder=self.folder, PATH=os.environ["PATH"])
        said = program.stdout.replace("bin/../", "")
        for name in PLUGINS:  # they are loaded by the program, whose RPATH holds for them, too
            said += run("/usr/bin/ldd", self.package / "viewer/plugins" / name, folder=self.folder, PATH=os.environ["PATH"],
                        LD_LIBRARY_PATH=str(ours)).stdout
        used = dict(re.findall(r"(\S+) => (.+?)(?: \(0x|$)", said, re.M))
        self.assertEqual({name for name, path in used.items() if path != str(ours / name) and not OF_THE_HOST_OF_VIEWER.match(name)}, set())
        self.assertLess({"libQt6Gui.so.6", "libxcb.so.1", "libwayland-client.so.0"}, set(used))

    def test_another_qt_in_the_way_is_not_used(self):
        (self.folder / "other").mkdir()
        (self.folder / "other/libQt6Core.so.6").write_text("not a library")
        self.assertEqual(self.picture("other.png", LD_LIBRARY_PATH=str(self.folder / "other")), self.picture("own.png"))

    def test_a_host_without_fonts_gets_labels(self):
        fonts, away = self.package / "viewer/fonts", self.package / "viewer/away"
        fonts.rename(away)
        try:
            shutil.copytree(away, fonts)
            settings = (fonts / "fonts.conf").read_text().splitlines()
            own = [line for line in settings if "/etc/fonts" not in line and "/usr/share" not in line]
            self.assertEqual(len(own), len(settings) - 2)
            (fonts / "fonts.conf").write_text("\n".join(own))
            labelled = self.picture("labelled.png")
            for font in fonts.glob("*.ttf"):
                font.unlink()
            boxes = self.picture("boxes.png")
        finally:
            shutil.rmtree(fonts)
            away.rename(fonts)
        self.assertLess(len(boxes), len(labelled) * 3 // 4)  # all labels are empty boxes

    @contextlib.contextmanager
    def display(self):
        """The name of a new one, without a screen."""
        for needed in ("Xvfb", "xdotool"):
            if shutil.which(needed) is None:
                self.skipTest(f"no {needed} (scripts/setup --all-tests installs it)")
        reading, writing = os.pipe()
        server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "1800x1000x24", "-nolisten", "tcp", "-noreset"],
                                  pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(writing)
        try:
            with os.fdopen(reading) as said:
                yield ":" + said.readline().strip()
        finally:
            server.terminate()
            server.wait()

    def test_the_picture_is_drawn_with_the_plugin_for_x11(self):
        with self.display() as display:
            self.picture("xcb.png", DISPLAY=display, QT_QPA_PLATFORM="xcb")

    def test_a_window_opens_under_x11(self):
        with self.display() as display:
            variables = {"PATH": "/nothing", "HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder), "DISPLAY": display}
            viewer = subprocess.Popen([self.venv / "bin/rankscope", "view", DEMO], cwd=self.folder, env=variables,  # becomes the viewer
                                      stderr=subprocess.PIPE, text=True)
            try:
                subprocess.run(["xdotool", "search", "--sync", "--onlyvisible", "--name", r"^demo\.rankscope - rankscope$"], check=True,
                               env={"PATH": os.environ["PATH"], "DISPLAY": display}, capture_output=True, timeout=60)
                self.assertIsNone(viewer.poll())
            finally:
                viewer.terminate()
                said = viewer.communicate()[1]
        self.assertEqual(said, "")

    def test_each_platform_is_there(self):
        for platform, words in (("wayland", "Failed to create wl_display"), ("xcb", "could not connect to display")):
            refused = self.view(DEMO, QT_QPA_PLATFORM=platform)  # the plugin itself says so
            self.assertEqual(refused.returncode, 5)
            self.assertIn(words, refused.stderr)
            self.assertIn("the viewer did not find a display", refused.stderr)

    def refusal(self, library, old, new):
        """What is said where a library asks for another name than there is."""
        path = self.package / LIBRARIES / library
        data = path.read_bytes()
        self.assertEqual((data.count(old), len(old)), (1, len(new)))
        path.write_bytes(data.replace(old, new))
        try:
            refused = self.view(DEMO)
            doctor = run(self.venv / "bin/rankscope", "doctor", folder=self.folder).stdout
        finally:
            path.write_bytes(data)
        self.assertEqual((refused.returncode, len(refused.stderr.splitlines())), (5, 1), refused.stderr)
        self.assertRegex(doctor, r"note timeline viewer .*\n *-> " + re.escape(refused.stderr.removeprefix("rankscope: ")))
        return refused.stderr

    def test_a_library_that_is_missing_is_named(self):
        said = self.refusal("libfontconfig.so.1", b"\0libexpat.so.1\0", b"\0libexpat.so.9\0")
        self.assertIn("than the viewer needs: libexpat.so.9. Run `pip install --force-reinstall --find-links FOLDER rankscope-viewer` "
                      "(FOLDER has both wheels), or write a page", said)

    def test_a_library_that_is_too_old_is_named_with_its_package(self):
        said = self.refusal("libQt6Core.so.6", b"\0GLIBCXX_3.4.30\0", b"\0GLIBCXX_3.9.99\0")
        self.assertIn("than the viewer needs: libstdc++.so.6. Run `apt install libstdc++6` (Debian, Ubuntu)", said)

    def test_a_system_that_is_too_old_is_called_so(self):
        said = self.refusal("libQt6Core.so.6", b"\0GLIBC_2.34\0", b"\0GLIBC_2.99\0")
        self.assertIn("than the viewer needs: libc.so.6. This system is too old for the viewer: use a newer one", said)

    def test_doctor_names_it(self):
        said = run(self.venv / "bin/rankscope", "doctor", folder=self.folder).stdout
        self.assertRegex(said, r"ok   timeline viewer .*rankscope/bin/rankscope-gui\n")

    def test_without_it_the_first_wheel_works(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run(self.venv / "bin/pip", "uninstall", "--yes", "rankscope-viewer", folder=folder)
            try:
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual([path for path in self.package.glob("viewer/**/*") if path.is_file()], [])
                self.assertIn("pip install --find-links FOLDER 'rankscope[viewer]'", self.view(DEMO).stderr)
                self.assertEqual(run(self.venv / "bin/rankscope", "report", DEMO, folder=folder).returncode, 0)
            finally:
                run(self.venv / "bin/pip", "install", "--no-index", self.wheel, folder=folder)


if __name__ == "__main__":
    os.umask(0o022)
    result = unittest.main(exit=False).result
    for test, reason in result.skipped:
        print(f"skipped: {test}: {reason}")
    sys.exit(1 if not result.wasSuccessful() else 77 if result.skipped else 0)
