"""Sections of scripts/gpu-check that record a PyTorch program (samples/gpu/train.py)."""
import gzip
import re
import shutil
import sys

from gpu_compare import LEAST_ROUNDS, MARKER, Check, check_collectives, check_costs, check_timed, compare, load
from gpu_machine import LIMIT_S, NOT_STARTED
from gpu_session import Ends, blame, failed, json_of, must

WIDE, NARROW = 4096, 128  # a step of the first waits for the GPU, one of the second for the host
STEPS = {WIDE: 60, NARROW: 200}
ROUNDS = 5
COMPARED = 3  # ways of a round without which nothing is compared
LONG_S, LEAST_LONG_S, AROUND_LONG_S = 60, 15, 16  # the last: its start, warm-up and report
# One process per rank, each taken for a host of its own: NCCL allows that on one GPU, through sockets.
NCCL_ON_ONE_GPU = {"NCCL_SOCKET_IFNAME": "lo", "NCCL_SOCKET_FAMILY": "AF_INET", "NCCL_IB_DISABLE": "1", "NCCL_NET": "Socket",
                   "NCCL_MNNVL_ENABLE": "0", "NCCL_NVLS_ENABLE": "0", "NCCL_P2P_DISABLE": "1", "NCCL_SHM_DISABLE": "1",
                   "NCCL_MAX_CTAS": "2", "NCCL_ALGO": "Ring"}
ENVIRONMENT = {"nccl": NCCL_ON_ONE_GPU, "gloo": {}}
FIRST_S = 90  # of a run that may be the first to load all of PyTorch
RANKS_LIMIT_S = 60  # of which a training run of two ranks needs a third


def train_words(*options, widths=()):
    widths = widths or (WIDE, NARROW)
    return [sys.executable, "gpu/train.py", "--width", *widths, "--steps", *(STEPS.get(width, 20) for width in widths), *options]


def ways_of(session, turn):
    """{way: command} to run the same program."""
    folder = session.machine.folder
    record = [session.bundle / "bin/rankscope", "record", "--out"]
    # What is compared comes first: where each import takes long, there is time for no more.
    ways = {"alone": train_words(), "with --pytorch": [*record, folder / f"pytorch{turn}.rankscope", "--pytorch", "--", *train_words()],
            "torch.profiler": train_words("--kineto", folder / f"kineto{turn}.json"),
            "recorded": [*record, folder / f"plain{turn}.rankscope", "--no-pytorch", "--", *train_words()]}
    nsys = shutil.which("nsys")
    if nsys and turn < LEAST_ROUNDS:
        ways["Nsight Systems"] = [nsys, "profile", "--trace=cuda,nvtx", "--force-overwrite=true", f"--output={folder / 'nsight'}", *train_words()]
    return ways


def run_rounds(session):
    """{way: what the program told in each round}: interleaved, so that whatever drifts meets all alike."""
    told = {}
    later = session.within(0.7 * session.machine.left)  # the rest is for what they are compared with
    for turn in range(ROUNDS):
        one_round = {}
        for way, command in ways_of(session, turn).items():
            outcome = (later if told else session).plain(command, seconds=session.limit(FIRST_S), least=20 + session.import_s)
            if outcome.end == NOT_STARTED and told:
                return told
            if outcome.end == NOT_STARTED and len(one_round) >= COMPARED:
                break
            what = f"the PyTorch program runs ({way})"
            if way == "Nsight Systems" and not outcome.ok:
                continue  # not ours; its section says that it is missing
            if not outcome.ok:
                raise Ends(must(blame(what, outcome, session, lambda one: one.plain(train_words())) if "record" in map(str, command) else failed(what, outcome)))
            one_round[way] = json_of(what, outcome)
        for way, one in one_round.items():
            told.setdefault(way, []).append(one)
        shutil.rmtree(session.machine.folder / f"plain{turn}.rankscope", ignore_errors=True)
    return told


def keep_kineto(session, turn):
    with open(session.machine.folder / f"kineto{turn}.json", "rb") as source, gzip.open(session.results.path("kineto.json.gz"), "wb", 6) as target:
        shutil.copyfileobj(source, target)
    session.results.enforce()


def check_pytorch(session):
    told = run_rounds(session)
    last = len(told["alone"]) - 1
    folder = session.machine.folder
    recording = folder / f"pytorch{last}.rankscope"
    yield from session.keep(recording, "pytorch")
    keep_kineto(session, last)
    device = told["alone"][0]["device"]
    yield Check("PyTorch uses the GPU", device != "cpu", device)

    def another_pair():
        return session.gpu_work(folder / f"pytorch{last - 1}.rankscope"), load(folder / f"kineto{last - 1}.json")

    yield from compare(session.gpu_work(recording), load(folder / f"kineto{last}.json"), another_pair if last > 0 else None)
    for width, what, most in ((WIDE, "a training run bound by the GPU", 0.01), (NARROW, "a training run bound by the host", None)):
        yield from check_costs(what, {way: [one["step_ns"][str(width)] for one in rounds] for way, rounds in told.items()}, most)
    if "Nsight Systems" not in told:
        yield Check("Nsight Systems was measured as well", None, "nsys did not run the program" if shutil.which("nsys") else "nsys is not installed here")
    report = session.report(recording)
    steps, made = report.get("steps", []), STEPS[WIDE]  # of the optimizer that steps first
    yield Check("--pytorch records the steps", isinstance(steps, list) and len(steps) >= made, f"{len(steps)} steps, at least {made} expected")
    yield session.quality(recording, report)


def check_window(session):
    words = train_words(widths=(256,))
    recording, outcome = session.record("window", ["--pytorch", "--window", "0,1,3,1"], words, seconds=session.limit(LIMIT_S))
    what = "--window 0,1,3,1 records three steps"
    if not outcome.ok:
        raise Ends(blame(what, outcome, session, lambda one: one.plain(words)))
    steps, kernels = session.report(recording).get("steps", []), len(session.database(recording).spans("compute"))
    count = len(steps) if isinstance(steps, list) else 0
    yield Check(what, 1 <= count <= 4 and kernels > 0, f"{count} steps in the report, {kernels} kernels")
    yield Check("with --window, the program still runs all of its steps", len(json_of(what, outcome)["step_ns"]["256"]) == 20, "20 steps")


def check_torch_profiler_inside(session):
    """Two profilers want CUPTI: either both work, or `record` says why one does not. What others say may be switched off."""
    trace = session.machine.folder / "inside.json"
    words = train_words("--kineto", trace, widths=(256,))
    recording, outcome = session.record("inside", [], words, seconds=session.limit(LIMIT_S))
    what = "torch.profiler works inside a recorded program, or a message says why it does not"
    if not outcome.ok:
        raise Ends(blame(what, outcome, session, lambda one: one.plain(words)))
    database = session.database(recording)
    theirs, ours = len(load(trace)), kernels_behind_marker(database)
    refused, held = said_of_profiler(outcome.err), database.metadata("cupti_problem")
    counts = f"{theirs} activities in its trace, {ours} kernels of the same time in the recording"
    yield Check(what, theirs > 0 or bool(refused), f"{counts}; {refused or 'record does not say that torch.profiler could not record'}")
    yield Check("the recording contains the kernels that ran under torch.profiler, or says why not", ours > 0 or bool(held), "; ".join([counts, *held]))


def said_of_profiler(text):
    """The sentence of `record` that torch.profiler could not use CUPTI; empty if there is none."""
    lines = [line for line in text.splitlines() if re.match(r"rankscope: cupti: torch\.profiler .*could not record.*CUPTI", line)]
    return lines[0] if lines else ""


def kernels_behind_marker(database):
    """What ran once the program had started its profiler: that may have taken CUPTI from the recorder."""
    names = [name for _, _, name in database.spans("compute")]
    places = [i for i, name in enumerate(names) if MARKER in name]
    return len(names) - places[-1] - 1 if places else 0


def check_ways(session):
    for job in (check_window, check_torch_profiler_inside):
        try:
            yield from job(session)
        except Ends as end:
            yield end.check


def torchrun(backend):
    # NCCL wants a host id per rank, which torchrun cannot set: a shell in between does.
    command = f'export NCCL_HOSTID=rs-$RANK; exec "$0" gpu/train.py --steps 20 --backend {backend}'
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "--no-python", "/bin/sh", "-c", command, sys.executable]


def two_ranks(session, name, backend, options=()):
    """(recording, check) of two ranks that share the GPU; no recording where they do not train."""
    what = f"two ranks on one GPU train with {backend} under the recorder" + (f" ({' '.join(options)})" if options else "")
    recording, outcome = session.record(name, ["--pytorch", *options], torchrun(backend), env=ENVIRONMENT[backend], seconds=session.limit(RANKS_LIMIT_S))
    if outcome.ok:
        return recording, Check(what, True, f"in {outcome.seconds:.0f} s")
    return None, blame(what, outcome, session, lambda one: plain_ranks(one, backend))


def plain_ranks(session, backend):
    return session.plain(torchrun(backend), env=ENVIRONMENT[backend], seconds=session.limit(RANKS_LIMIT_S))


def check_gloo(session):
    recording, check = two_ranks(session, "ranks-gloo", "gloo")
    yield must(check)
    if recording is None:
        return
    yield from session.keep(recording, "ranks-gloo")
    report = session.report(recording)
    yield Check("both ranks of Gloo are in the report", report["run"]["ranks"] == 2, f"{report['run']['ranks']} ranks")
    yield session.quality(recording, report)


def check_nccl(session):
    """NCCL need not take two ranks on one GPU, and may hang instead of refusing: it is tried alone first."""
    plain = plain_ranks(session, "nccl")
    if not plain.ok:
        yield Check("two ranks on one GPU train with nccl", None, f"it does not run without the recorder, either: {plain.why}" if plain.end != NOT_STARTED else plain.why)
        return
    recording, check = two_ranks(session, "ranks-nccl", "nccl")
    yield check
    if recording is None:
        return
    session.results.remove("ranks-gloo.rankscope.tar.zst")
    yield from session.keep(recording, "ranks-nccl")
    report = session.report(recording)
    yield Check("both ranks of NCCL are in the report", report["run"]["ranks"] == 2, f"{report['run']['ranks']} ranks")
    matched, alone = session.matched(report)
    yield Check("all of NCCL's collectives are matched", matched > 0 and alone == 0, f"{matched} matched, {alone} not")
    yield check_collectives(session.database(recording).collectives())
    yield session.quality(recording, report)
    yield from check_levels(session)


def check_levels(session):
    recording, check = two_ranks(session, "ranks-proxy", "nccl", ("--nccl", "proxy"))
    yield check
    if recording is not None:
        network = session.database(recording).spans("api", "proxy %")
        yield Check("--nccl proxy records network operations", bool(network), f"{len(network)} sends and receives")
    # Without CUPTI no kernel tells when an operation ran: its times are those of its channels.
    recording, check = two_ranks(session, "ranks-kernel", "nccl", ("--nccl", "kernel", "--collect", "annotate,nvtx,nccl"))
    yield check
    if recording is not None:
        yield check_timed(*session.database(recording).timed_collectives())


def check_long(session):
    """Nothing is dropped in a training run of a minute, with the ring as it is by default. Its time includes warm-up and import."""
    seconds = int(min(LONG_S, session.machine.left - AROUND_LONG_S))
    what = f"a training run of {LONG_S} s is recorded without drops"
    if seconds < LEAST_LONG_S:
        yield Check(what, None, "no time was left")
        return
    words = train_words("--seconds", seconds, widths=(WIDE,))
    recording, outcome = session.record("long", ["--pytorch"], words, seconds=seconds + 60, least=seconds + AROUND_LONG_S - 1)
    what = f"a training run of {seconds} s is recorded without drops"
    if not outcome.ok:
        raise Ends(must(blame(what, outcome, session, lambda one: one.plain(train_words()))))
    report = session.report(recording)
    rows = report.get("data_quality", [])
    dropped = {row["counter"]: row["value"] for row in rows if "dropped" in row["counter"]} if isinstance(rows, list) else {"report": str(rows)}
    made = json_of(what, outcome)["more_steps"]
    yield Check(what, not dropped, f"{dropped or 'none'}; {made} steps" + ("" if seconds == LONG_S else f"; there was no time for {LONG_S} s"))
    yield session.quality(recording, report)
    yield Check("all of its steps are in the report", len(report.get("steps", [])) >= made, f"{len(report.get('steps', []))} of {made}")
