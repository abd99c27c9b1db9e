"""Trains with a fault, records, and asks rankscope what it sees."""
import dataclasses
import json
import pathlib
import shutil
import subprocess
import time

import cases

ROOT = pathlib.Path(__file__).resolve().parents[2]
RANKSCOPE = ROOT / "build/release/bin/rankscope"
LONGEST_S = 300


@dataclasses.dataclass
class Measured:
    case: cases.Case
    problem: str = None      # why there is no report, or what is wrong with it
    report: dict = None
    predicted_ns: int = None  # median step that whatif promises without the fault
    seconds: float = 0


def rankscope(*words):
    return subprocess.run([RANKSCOPE, *map(str, words)], capture_output=True, text=True, timeout=LONGEST_S)


def last_line(text):
    return (text.strip().splitlines() or ["(no message)"])[-1]


def measure(case, steps, folder):
    recording, output = folder / "run.rankscope", folder / "report.json"
    shutil.rmtree(recording, ignore_errors=True)
    fault = ["--fault", case.fault] if case.fault else []
    began = time.monotonic()
    try:
        trained = rankscope("train", "--parallel", "ddp", "--device", "cpu", "--ranks", case.ranks, "--steps", steps, "--pace",
                            cases.PACE_MS, *fault, "--out", recording)
    except subprocess.TimeoutExpired:
        return Measured(case, f"train did not end within {LONGEST_S} s", seconds=LONGEST_S)
    measured = Measured(case, seconds=time.monotonic() - began)
    if (trained.returncode != 0) != (case.lost is not None):
        measured.problem = f"train ended with {trained.returncode}: {last_line(trained.stderr)}"
        return measured
    reported = rankscope("report", recording, "--json", output)
    if reported.returncode != 0:
        measured.problem = f"report ended with {reported.returncode}: {last_line(reported.stderr)}"
        return measured
    measured.report = json.loads(output.read_text())
    if case.predicts:
        asked = rankscope("whatif", recording, "--fix", f"rank:{case.row[0]}", "--json", "-")
        if asked.returncode != 0:
            measured.problem = f"whatif ended with {asked.returncode}: {last_line(asked.stderr)}"
        else:
            measured.predicted_ns = json.loads(asked.stdout)["predicted"]["median_step_ns"]
    return measured


def too_noisy(measured):
    """True if the report itself says that the machine's noise is too large to tell."""
    return measured.report is not None and bool(measured.report.get("straggler_basis", {}).get("cannot_tell"))


def measure_in_peace(case, steps, folder, patience, say):
    """Repeats a run only where its report refuses a verdict; a wrong verdict stands."""
    for attempt in range(patience + 1):
        measured = measure(case, steps, folder)
        if not too_noisy(measured):
            break
        say(f"{case.ranks} ranks, {case.name}: too noisy to tell, attempt {attempt + 1} of {patience + 1}")
    return measured


def step_walls(report):
    return [step["end_ns"] - step["begin_ns"] for step in report["steps"] if step["complete"] and not step["warm_up"]]
