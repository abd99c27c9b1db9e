"""Sections of scripts/gpu-check that train with the reference trainer: on the GPU its losses must be those of the CPU."""
import pathlib

from gpu_compare import Check, check_losses, check_operations, excuse
from gpu_machine import Aside
from gpu_session import Ends, blame, must

LIKE_THIS = ("--steps", "3", "--dtype", "f64")
ALONE = (("--parallel", "single", "--model", "gpt"), ("--parallel", "single", "--model", "resnet18"),
         ("--parallel", "dp", "--devices", "1"), ("--parallel", "mp", "--devices", "1"), ("--parallel", "ddp+mp", "--ranks", "1", "--devices", "1"))
SHARING = ("--share-gpu", "--timeout", "25")
TOGETHER = tuple(("--ranks", "2", "--parallel", *words) for words in (
    ("ddp",), ("ddp", "--ddp-impl", "c10d"), ("zero1",), ("zero2",), ("zero3",), ("pp",), ("pp", "--schedule", "zb-v"), ("tp",),
    ("tp+sp",), ("tile", "--model", "cnn"), ("3d", "--pp", "2", "--dp", "1")))
LIMIT_S, REFERENCE_S = 60, 60
NOT_OURS = 125  # of the trainer of a bundle that finds no torch of the version that it was built with


def name_of(words):
    return "-".join(word for word in words if not word.startswith("--"))


def train(session, name, *words):
    """(losses, outcome) of a training."""
    dump = session.machine.folder / f"{name}.gradients"
    dump.unlink(missing_ok=True)
    outcome = session.rankscope("train", *LIKE_THIS, *words, "--dump-gradients", dump, seconds=LIMIT_S)
    if not outcome.ok:
        return [], outcome
    losses = [float(line.split()[1]) for line in dump.read_text().splitlines() if line.startswith("loss ")]
    dump.unlink()
    return losses, outcome


def on_cpu(session, words):
    return train(session, f"cpu-{name_of(words)}", *words, "--device", "cpu", "--pace", "off", "--no-record")


class References:
    """Losses of the CPU, made beside the work of the GPU."""

    def __init__(self, session):
        self._session, self._told = session, None
        self._aside = Aside(lambda: {name_of(words): self._one(words) for words in (*ALONE, *TOGETHER)},
                            session.machine.folder) if trainer_of(session) else None

    def _one(self, words):
        losses, outcome = on_cpu(self._session, words)
        return {"losses": losses, "why": "" if outcome.ok else outcome.why}

    def of(self, words):
        """(losses, why there are none)."""
        if self._told is None:
            self._told = self._aside.result(min(REFERENCE_S, max(self._session.machine.end_left, 1))) or {}
        one = self._told.get(name_of(words)) or self._one(words)
        return one["losses"], one["why"]


def trainer_of(session):
    return (pathlib.Path(session.bundle) / "bin/rankscope-train").exists()


def check_device(session, references, words, shared=(), is_must=False):
    """Trains on the GPU: in double precision its losses must agree with those of the CPU."""
    what = f"train {' '.join(words)} gives the same losses as on the CPU"
    name = name_of(words)
    recording = session.machine.folder / f"gpu-{name}.rankscope"
    losses, outcome = train(session, f"gpu-{name}", *words, *shared, "--device", "cuda", "--out", recording)
    if outcome.status == NOT_OURS and "this program was built for torch" in outcome.why:
        return excuse(what, outcome.why)
    if not outcome.ok:
        check = blame(what, outcome, session, lambda one: train(one, f"plain-{name}", *words, *shared, "--device", "cuda", "--no-record")[1])
        return must(check) if is_must else check
    expected, why = references.of(words)
    if why:
        return Check(what, None if why == "no time was left" else False, f"on the CPU: {why}")
    return check_losses(what, losses, expected)


def check_alone(session, references):
    if not trainer_of(session):
        yield Check("the reference trainer trains", None, "the bundle does not contain it")
        return
    for words in ALONE:
        check = check_device(session, references, words, is_must="ddp+mp" not in words)
        yield check
        if (check.passed is False or check.excused) and words == ALONE[0]:
            return
    recording = session.machine.folder / f"gpu-{name_of(ALONE[0])}.rankscope"
    if recording.exists():
        kernels = len(session.database(recording).spans("compute"))
        yield Check("the recording of the trainer has kernels", kernels > 0, f"{kernels} kernels")
        yield session.quality(recording)


def check_recording(session, words):
    """What the report says of the operations of a mode with two ranks."""
    try:
        report = session.report(session.machine.folder / f"gpu-{name_of(words)}.rankscope")
    except Ends as end:
        return end.check
    return check_operations(words, *session.matched(report), session.count(report, "comm_not_announced"))


def check_together(session, references):
    """Whether NCCL takes several ranks on one GPU is not ours to promise: if the first mode fails also without the recorder, no
    other one is tried. Once a mode has passed, a later one that fails is a fault of the trainer."""
    if not trainer_of(session):
        return
    refused, shares = "", False
    for words in TOGETHER:
        if refused:
            yield Check(f"train {' '.join(words)} gives the same losses as on the CPU", None, f"not tried, since {refused}")
            continue
        check = check_device(session, references, words, SHARING, is_must=shares)
        yield check
        if check.passed:
            shares = True
            yield check_recording(session, words)
        if check.excused:
            return
        if check.passed is None and check.said != "no time was left":
            refused = f"{words[3]} does not run on this machine, recorded or not"

