"""Makes wheels with scripts/wheel, installs them without a network and uses them, for the tests beside this file."""
import base64
import hashlib
import pathlib
import subprocess
import sys
import zipfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))


def run(*words, folder, **variables):
    """Without this tree, a compiler, a display and the settings of this machine."""
    return subprocess.run([str(word) for word in words], cwd=folder, capture_output=True, text=True,
                          env={"PATH": "/nothing", "HOME": str(folder), **variables})


def done(*words):
    finished = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if finished.returncode != 0:
        raise AssertionError(finished.stdout + finished.stderr)


def make(build, out, *options):
    before = set(out.glob("*.whl"))
    done(ROOT / "scripts/wheel", *options, "--build", build, "--out", out)
    (wheel,) = set(out.glob("*.whl")) - before
    return wheel


def environment(folder, *requirements):
    """A new one, with these installed; wheels are looked for in the folder only."""
    venv = folder / "venv"
    done(sys.executable, "-m", "venv", venv)
    done(venv / "bin/pip", "install", "--quiet", "--no-index", "--find-links", folder, *requirements)
    return venv


def check_record(test, wheel):
    """Each file of a wheel is in its RECORD, with its checksum and size."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (record,) = [name for name in names if name.endswith("RECORD")]
        rows = dict(row.split(",", 1) for row in archive.read(record).decode().splitlines())
        test.assertEqual(set(rows), set(names))
        for name in names:
            if name != record:
                digest = base64.urlsafe_b64encode(hashlib.sha256(archive.read(name)).digest()).rstrip(b"=").decode()
                test.assertEqual(rows[name], f"sha256={digest},{len(archive.read(name))}")
