"""What every page of measurements says of where it was made."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]


def commit():
    """The commit of the checkout, short; "unknown" in a copy without one."""
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"
