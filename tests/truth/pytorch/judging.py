"""What a report says of a run with a known fault: whom it names, in which function, and how long it lets ranks wait."""
import dataclasses

import cells
import waits

# Of the names. A clean run is right if nobody is named, another one if the rank and the cause are.
NAMED, NOBODY, CANNOT_TELL = "named", "nobody", "cannot tell"
OTHER_CAUSE, OTHER_RANK, NO_VERDICT = "another cause", "another rank", "no verdict"
OUTCOMES = (NAMED, NOBODY, CANNOT_TELL, OTHER_CAUSE, OTHER_RANK, NO_VERDICT)
HIT = "hit"


@dataclasses.dataclass
class Verdict:
    names: str  # one of OUTCOMES
    said: str = ""  # instead of the name
    function: str = ""  # HIT, or what was said instead; "": not asked
    waits: str = ""  # the same
    compared: list = dataclasses.field(default_factory=list)  # of each rank: its wait by the report and by the clocks, in ms per step
    mentioned: list = dataclasses.field(default_factory=list)  # findings about one rank that say no more than what happened

    def problems(self, cell):
        """What counts as missed. A clean run that cannot be judged is not: nobody is named."""
        right = (NOBODY, CANNOT_TELL) if cell.clean else (NAMED,)
        wrong = [] if self.names in right else [f"{self.names}: {self.said}" if self.said else self.names]
        if self.function not in ("", HIT) and self.names == NAMED:  # who is not named has no function
            wrong.append(self.function)
        return wrong + ([self.waits] if self.waits not in ("", HIT) else [])


def failed(why):
    return Verdict(NO_VERDICT, why)


def names_of(cell, found, links, report):
    """The outcome, and what was said instead."""
    wanted = [(cell.slow_rank, cells.KIND_OF[cell.fault])] if cell.fault in cells.KIND_OF else []
    wanted_links = [cell.slow_rank] if cell.fault == "link" else []
    said = "; ".join(["stragglers: " + ", ".join(f"rank {rank} ({kind})" for rank, kind in found)] * bool(found)
                     + ["slow connections of ranks " + ", ".join(map(str, links))] * bool(links))
    if cell.clean and said or {rank for rank, _ in found} - {cell.slow_rank} or set(links) - {cell.slow_rank}:
        return OTHER_RANK, said
    if (found or links) and (found != wanted or links != wanted_links):
        return OTHER_CAUSE, said
    if isinstance(report["stragglers"], dict):
        return NO_VERDICT, "stragglers: " + report["stragglers"].get("unavailable", "?")
    if isinstance(report["collectives"], dict) and not report["collectives"].get("matched"):
        return NO_VERDICT, "no collective was matched"
    if found or links:
        return NAMED, ""
    doubt = report.get("straggler_basis", {}).get("cannot_tell")
    return (CANNOT_TELL, doubt) if doubt else (NOBODY, "")


def function_of(cell, stragglers):
    code = next((row.get("code") for row in stragglers if row["rank"] == cell.slow_rank), None)
    if code is None:
        return "no function is named"
    return HIT if code["function"] in cells.FUNCTIONS[cell.fault] else f"function: {code['function']}, {code['file']}:{code['line']}"


def judge(cell, report, clocks):
    stragglers, findings = ([] if isinstance(report[part], dict) else report[part] for part in ("stragglers", "findings"))
    found = [(row["rank"], row["kind"]) for row in stragglers]
    unequal = [(row["rank"], row["id"]) for row in findings if row["id"].startswith("unequal.") and "rank" in row]
    links = [row.get("rank") for row in findings if row["id"] == "slow_tcp_link"]
    names, said = names_of(cell, found + unequal, links, report)
    wrong, compared = waits.compare(cell, report, clocks)
    return Verdict(names, said, function_of(cell, stragglers) if cell.names_function else "", wrong or HIT, compared,
                   [f"{row['id']} of rank {row['rank']}" for row in findings
                    if "rank" in row and not row["id"].startswith(("straggler.", "unequal.", "slow_tcp_link"))])
