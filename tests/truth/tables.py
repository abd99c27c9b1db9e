"""Results as tables of Markdown."""
import statistics

import cases
import measure
from judge import TOLERANCE, prediction_error, rows


def must_be_named(case, expected):
    if case.lost:
        return "rank_lost: rank %d, step %d" % case.lost
    if not case.row:
        return "nothing"
    named = "rank %d, %s, %s" % case.row
    too_small = case.ranks == 2 and expected is not None and expected < cases.OF_TWO_FROM
    return f"that or nothing: {named} (of two ranks)" if too_small else named


def verdicts(results, expected):
    """`results`: lists of Measured by case; `expected`: slowdown by case."""
    lines = ["| ranks | case | injected | must be named | hit | slowdown seen (median) | expected |",
             "|---|---|---|---|---|---|---|"]
    for case, runs in results.items():
        hits = sum(run.problem is None and not (measure.too_noisy(run) and not case.row and not case.lost)
                   for run in runs)
        seen = [rows(run.report["stragglers"])[0]["slowdown"] for run in runs
                if run.report and rows(run.report["stragglers"])]
        slowdown = f"{statistics.median(seen):.3f}" if seen and not case.lost else ""
        wanted = f"{expected[case]:.3f} ± {TOLERANCE}" if expected.get(case) else ""
        lines.append(f"| {case.ranks} | {case.name} | {case.fault or '–'} | {must_be_named(case, expected.get(case))} | "
                     f"{hits} of {len(runs)} | {slowdown} | {wanted} |")
    for case, runs in results.items():
        lines += [f"- {case.ranks} ranks, {case.name}, run {number}: {run.problem}"
                  for number, run in enumerate(runs, 1) if run.problem]
        lines += [f"- {case.ranks} ranks, {case.name}, run {number}: the report says that it cannot tell"
                  for number, run in enumerate(runs, 1) if not run.problem and measure.too_noisy(run)]
    return "\n".join(lines)


def predictions(results, clean):
    """What `whatif --fix rank:R` promised against clean runs of as many ranks."""
    lines = ["| ranks | case | step with the fault, ms | predicted without, ms | clean run, ms | error |",
             "|---|---|---|---|---|---|"]
    errors = []
    for case, runs in results.items():
        good = [run for run in runs if prediction_error(run, clean[case.ranks]) is not None]
        if not good:
            continue
        error = statistics.median(prediction_error(run, clean[case.ranks]) for run in good)
        errors.append(abs(error))
        predicted = statistics.median(run.predicted_ns for run in good)
        before = statistics.median(run.report["what_if"]["measured_ns"] for run in good)
        lines.append(f"| {case.ranks} | {case.name} | {before / 1e6:.1f} | {predicted / 1e6:.1f} | "
                     f"{predicted / (1 + error) / 1e6:.1f} | {error:+.1%} |")
    if errors:
        lines.append("")
        lines.append(f"Median of the errors {statistics.median(errors):.1%}, largest {max(errors):.1%}.")
    return "\n".join(lines), errors
