#!/usr/bin/env python3
"""bundle_test.py BUILD: packs what BUILD holds with scripts/bundle, unpacks it in a folder with spaces, and runs it there as a
user of another machine would, without this tree: nothing of the build may be found through its paths."""
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from portable import COMPILED_IN  # noqa: E402

BUILD = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else ROOT / "build/release"


def run(*words, folder, **variables):
    keep = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True, env={**keep, **variables})


class Bundle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="rankscope bundle ")
        folder = pathlib.Path(cls.scratch.name)
        archive = folder / "bundle.tar.xz"
        made = subprocess.run([ROOT / "scripts/bundle", "--build", BUILD, "--out", archive], capture_output=True, text=True)
        if made.returncode != 0:
            raise AssertionError(made.stdout + made.stderr)
        cls.said = made.stdout
        cls.checked = subprocess.run(["sha256sum", "--check", "bundle.tar.xz.sha256"], cwd=folder, capture_output=True, text=True)
        elsewhere = folder / "a folder with spaces"
        with tarfile.open(archive) as file:
            file.extractall(elsewhere)
        archive.unlink()
        (cls.home,) = elsewhere.iterdir()
        cls.program = cls.home / "bin/rankscope"

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def test_its_checksum_lies_beside_it(self):
        self.assertEqual(self.checked.returncode, 0, self.checked.stdout + self.checked.stderr)

    def test_the_sample_is_explained(self):
        result = run(self.program, "report", "samples/demo.rankscope", folder=self.home)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("Rank 2", result.stdout)

    def test_a_program_is_recorded(self):
        result = run(self.program, "record", "--out", "true.rankscope", "--", "/bin/sh", "-c", "sleep 0.8", folder=self.home, RANK="0")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, "recorded [12] process.*, 1 rank")
        self.assertNotIn("LD_PRELOAD", result.stderr)
        self.assertEqual(run(self.program, "record", "--out", "b.rankscope", "--", "/bin/true", folder=self.home).returncode, 0)

    def test_doctor_finds_what_is_in_it(self):
        result = run(self.program, "doctor", folder=self.home)
        self.assertIn(str(self.home), result.stdout)

    def trainer(self):
        if not (self.home / "bin/rankscope-train").exists():
            self.skipTest("the trainer was not built here: no libtorch")
        (torch,) = ROOT.glob(".venv/lib/python3*/site-packages/torch")
        return torch

    def test_the_trainer_takes_the_torch_that_a_variable_names(self):
        torch = self.trainer()
        result = run(self.program, "train", "--parallel", "ddp", "--ranks", "2", "--steps", "2", "--out", "ddp.rankscope",
                     folder=self.home, RANKSCOPE_TORCH=str(torch))
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("2 ranks", result.stderr)
        self.assertEqual(run(self.program, "report", "ddp.rankscope", folder=self.home).returncode, 0)

    def test_the_trainer_finds_the_torch_of_the_active_python(self):
        torch = self.trainer()
        path = f"{torch.parents[3] / 'bin'}:{os.environ['PATH']}"
        result = run(self.program, "train", "--parallel", "single", "--steps", "1", "--no-record", folder=self.home, PATH=path)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_the_trainer_says_what_is_wrong_with_a_torch(self):
        self.trainer()
        other = self.home / "other torch"
        (other / "lib").mkdir(parents=True)
        words = (self.home / "bin/rankscope-train", "--parallel", "single", "--steps", "1")
        result = run(*words, folder=self.home, RANKSCOPE_TORCH=str(other))
        self.assertEqual((result.returncode, "does not exist" in result.stderr), (125, True), result.stderr)
        (other / "lib/libtorch_cpu.so").touch()
        (other / "version.py").write_text("__version__ = '2.3.1+cpu'\n")
        result = run(*words, folder=self.home, RANKSCOPE_TORCH=str(other))
        self.assertEqual((result.returncode, "is 2.3.1; set RANKSCOPE_TORCH" in result.stderr), (125, True), result.stderr)

    def test_the_trainers_part_for_gpus_is_where_the_trainer_looks_for_it(self):
        self.trainer()
        name = "librankscope_train_cuda.so"
        self.assertEqual((self.home / "lib" / name).exists(), (BUILD / "bin" / name).exists())
        self.assertEqual("its CUDA part was not built" in self.said, not (BUILD / "bin" / name).exists())

    def test_it_needs_no_newer_c_library_than_the_documentation_says(self):
        text = (ROOT / "docs/install.md").read_text()
        for told, pattern in (("glibc", r"needs glibc ([0-9.]+)"), ("GLIBCXX", r"rankscope-train needs a libstdc\+\+ with GLIBCXX_([0-9.]+)")):
            found = re.search(pattern, self.said)
            if told == "GLIBCXX" and not found:
                continue  # without the trainer
            limit = re.search(rf"{told}[_ ]([0-9.]+[0-9])", text)[1]
            needed, allowed = ([int(part) for part in version.split(".")] for version in (found[1], limit))
            self.assertLessEqual(needed, allowed, f"{told} {found[1]} is needed; docs/install.md says {limit}")

    def test_it_is_small_and_holds_the_licences_of_what_it_carries(self):
        size = sum(path.stat().st_size for path in self.home.rglob("*") if path.is_file())
        is_debug = "CMAKE_BUILD_TYPE:STRING=Debug" in (BUILD / "CMakeCache.txt").read_text()
        self.assertLess(size, (48 if is_debug else 40) * 2**20)
        carried = {path.name for path in (self.home / "lib").glob("*.so.*")}
        self.assertGreaterEqual(carried, {"libzstd.so.1", "libsqlite3.so.0", "libisal.so.2"})
        self.assertEqual({path.stem for path in (self.home / "licences").iterdir()}, carried | set(COMPILED_IN))

    def test_no_path_of_the_build_is_searched_for_libraries(self):
        for path in (self.home / "bin/rankscope", *(self.home / "lib").iterdir()):
            paths = re.findall(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", subprocess.run(["readelf", "-d", path], capture_output=True, text=True).stdout)
            self.assertTrue(all(one.startswith("$ORIGIN") for one in paths), f"{path.name}: {paths}")


if __name__ == "__main__":
    unittest.main()
