"""Runs the programs of this folder, and ends them with all that they started if they do not end."""
import collections
import contextlib
import ctypes
import json
import os
import pathlib
import signal
import subprocess
import tempfile

import faults

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
RANKSCOPE = ROOT / "build/release/bin/rankscope"
PYTHON = ROOT / ".venv/bin/python"
LONGEST_S = 300
GRACE_S = 10  # between the request to end and the signal that ends
PR_SET_PDEATHSIG = 1  # of prctl


class Failed(Exception):
    """Why there is no report."""


def has_torch():
    asked = subprocess.run([PYTHON, "-c", "import torch.distributed as d; d.init_process_group"], capture_output=True) if PYTHON.exists() else None
    return asked is not None and asked.returncode == 0


def torch_version():
    return subprocess.run([PYTHON, "-c", "import torch; print(torch.__version__)"], capture_output=True, text=True).stdout.strip()


def descendants(pid):
    """With the process itself, parents first."""
    children = collections.defaultdict(list)
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parent = stat.read_text(errors="replace").rpartition(")")[2].split()[1]
            children[int(parent)].append(int(stat.parent.name))
    found = [pid]
    for one in found:  # grows
        found += children[one]
    return found


def stop(process):
    """torchrun puts each rank into a session of its own, so no group of processes has them all."""
    handles = []  # numbers of processes may be given to others meanwhile
    for pid in descendants(process.pid):
        with contextlib.suppress(ProcessLookupError):
            handles.append(os.pidfd_open(pid))
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(GRACE_S)
    for handle in handles:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
        os.close(handle)
    process.wait()


def last_line(text):
    """That says something: torchrun ends with a rule."""
    return next((line for line in reversed(text.strip().splitlines()) if any(map(str.isalpha, line))), "(no message)")


def end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def finish(what, command, within=LONGEST_S):
    """Runs the command to its end, which must be a success."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryFile("w+", errors="replace") as errors:
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                                   env=environment, start_new_session=True, preexec_fn=end_with_parent)
        try:
            status = process.wait(within)
        except subprocess.TimeoutExpired:
            raise Failed(f"{what} did not end within {within} s") from None
        finally:
            if process.poll() is None:
                stop(process)
        if status != 0:
            errors.seek(0)
            raise Failed(f"{what} ended with {status}: {last_line(errors.read())}")


def training(cell, steps, folder):
    """The command that trains, and where its recording or traces will be."""
    program = [FOLDER / f"{cell.script}.py", *cell.fault_options(), "--rank", cell.slow_rank, "--clocks", folder]
    command = [PYTHON, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", cell.ranks, *program]
    if cell.profiled_steps:
        traces = folder / "traces"
        traces.mkdir()
        return [*command, "--profile", traces, "--steps", cell.profiled_steps + faults.BEFORE_PROFILE], traces
    recording = folder / "run.rankscope"
    return [RANKSCOPE, "record", "--out", recording, "--", *command, "--steps", steps], recording


def run(cell, steps):
    """The report and the clocks of one run."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command, recording = training(cell, steps, folder)
        finish("the program", command)
        finish("report", [RANKSCOPE, "report", recording, "--json", folder / "report.json"])
        clocks = [json.loads((folder / f"rank{rank}.json").read_text()) for rank in range(cell.ranks)]
        return json.loads((folder / "report.json").read_text()), clocks
