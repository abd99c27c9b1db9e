"""What a notebook shows of a run: the verdict, and one bar per rank."""

from __future__ import annotations

import html
from typing import Any

from ._findings import Verdict

#: part of a rank's time, its word, its colour (of the HTML report)
_PARTS = (("compute_ns", "compute", "#3b7dd8"), ("exposed_comm_ns", "exposed communication", "#d8743b"),
          ("memory_ns", "memory", "#8a63c9"), ("idle_ns", "idle", "#c9c9c9"))
_MOST_RANKS = 32


def _bar(rows: dict[str, list[Any]], i: int, longest: int) -> str:
    parts = "".join(
        f'<span title="{word}: {rows[part][i] / 1e6:.3f} ms" style="display:inline-block;height:1em;background:{colour};'
        f'width:{100 * rows[part][i] / longest:.3f}%"></span>' for part, word, colour in _PARTS)
    return (f'<tr><td style="text-align:right">rank {rows["rank"][i]}</td><td style="width:30em;text-align:left;white-space:nowrap;'
            f'font-size:0.9em">{parts}</td><td>{rows["window_ns"][i] / 1e6:.1f} ms</td></tr>')


def page(name: str, verdict: Verdict, rows: dict[str, list[Any]]) -> str:
    """HTML of a few kilobytes. `rows` is the table "ranks", or has only "why": the reason why there is none."""
    head = f"<div><h4>{html.escape(name)}</h4>" + "".join(f"<p>{html.escape(line)}</p>" for line in verdict.lines)
    if "why" in rows:
        return head + f"<p>{html.escape(rows['why'][0])}</p></div>"
    longest = max([*rows["window_ns"], 1])
    shown = min(len(rows["rank"]), _MOST_RANKS)
    bars = "".join(_bar(rows, i, longest) for i in range(shown))
    legend = " ".join(f'<span style="color:{colour}">■</span> {word}' for _, word, colour in _PARTS)
    hidden = len(rows["rank"]) - shown
    left_out = f"<p>{hidden} more {'rank is' if hidden == 1 else 'ranks are'} not shown</p>" if hidden else ""
    return f"{head}<table>{bars}</table><p>{legend}</p>{left_out}</div>"
