"""Sections of scripts/gpu-check that record the CUDA program whose launches are all known (samples/gpu/kernels.cu)."""
import collections
import pathlib
import shutil

from gpu_compare import LEAST_ROUNDS, Check, check_counts, check_moves, check_nvml, check_samples, check_times, excuse, forgiven
from gpu_machine import NOT_STARTED
from gpu_page import device_slug
from gpu_session import CUDA_PROGRAM, Ends, blame, failed, json_of, must

ROUNDS = 5
MOST_LONGER = 1.10  # of a loop that does nothing but launch: it is no step of a training
LIMIT_S = 30  # of a run that takes 10 s at most
COUNTERS_HZ, BUSY_S = 1000, 2
MOST_DUMPED = 4 * 2**20
UUIDS = ["--query-gpu=uuid", "--format=csv,noheader"]  # of nvidia-smi
RUNS = "the CUDA program runs"
RECORDS = "the CUDA program runs under the recorder"
TOO_OLD = "driver version is insufficient"  # cudaGetErrorString of cudaErrorInsufficientDriver
MIG = ["--query-gpu=mig.mode.current", "--format=csv,noheader"]  # of nvidia-smi
_programs = {}  # by bundle: the program, or the check that says why there is none


def program_of(session):
    """The CUDA program: that of the bundle or, if there is none that works with the driver, one that is compiled here. Raises Ends if
    there is none; what was found is found once."""
    if session.bundle not in _programs:
        try:
            _programs[session.bundle] = find_program(session)
        except Ends as end:
            if end.check.passed is None and not end.check.excused:
                raise  # no time was left
            _programs[session.bundle] = end.check
    found = _programs[session.bundle]
    if isinstance(found, Check):
        raise Ends(found)
    return found


def compiler():
    """nvcc, or None."""
    found = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    return found if pathlib.Path(found).exists() else None


def needs_newer_driver(session, program):
    """The runtime of CUDA that a program was linked with refuses older drivers. Raises Ends if the program does not run for another
    reason: where it hangs, no section need wait for it again."""
    outcome = session.plain([program, "--rounds", 0], seconds=LIMIT_S)
    if not outcome.ok and TOO_OLD not in outcome.err:
        raise Ends(must(failed(RUNS, outcome)))
    return not outcome.ok


def find_program(session):
    """Raises Ends if there is none."""
    program = session.bundle / "gpu" / CUDA_PROGRAM
    if program.exists() and not needs_newer_driver(session, program):
        return program
    why = "the driver is too old for the CUDA that the program of the bundle was built with" if program.exists() else "the bundle does not contain it"
    nvcc = compiler()
    if nvcc is None:
        raise Ends(excuse(RUNS, f"{why}, and there is no nvcc to compile it here"))
    own = session.machine.folder / CUDA_PROGRAM
    outcome = session.machine.run(nvcc, "-O2", "-std=c++17", "-cudart", "static", "-o", own, session.bundle / "gpu/kernels.cu")
    if not outcome.ok:
        raise Ends(failed("the CUDA program compiles", outcome))
    if needs_newer_driver(session, own):
        raise Ends(excuse(RUNS, f"{why}, and too old for the CUDA of {nvcc}"))
    return own


def recorded(session, name, options, words, what=RECORDS):
    """(recording, what the program told). Ends the section where that failed, whoever's fault it is."""
    command = [program_of(session), *words]
    recording, outcome = session.record(name, options, command, seconds=LIMIT_S)
    if not outcome.ok:
        raise Ends(blame(what, outcome, session, lambda one: one.plain(command, seconds=LIMIT_S)))
    return recording, json_of(what, outcome)


def without_times(told):
    return {key: value for key, value in told.items() if not key.endswith("loop_ns")}


def kernels_of(database):
    return collections.Counter(name.partition("(")[0] for _, _, name in database.spans("compute"))


def timed(session, program):
    """Loop times alone and recorded, by turns, and what the program told in the first run of each."""
    times, told = {"alone": [], "recorded": []}, {}
    session = session.within(0.6 * session.machine.left)  # the rest is for what is made of them
    for turn in range(ROUNDS):
        recording, outcome = session.machine.folder / "cuda.rankscope", None
        for way in times:
            if way == "alone":
                outcome = session.plain([program], seconds=LIMIT_S)
            else:
                recording, outcome = session.record(f"cuda{turn or ''}", [], [program], seconds=LIMIT_S)
            if not outcome.ok:
                if turn >= LEAST_ROUNDS and outcome.end == NOT_STARTED:
                    return times, told
                raise Ends(must(blame(RECORDS, outcome, session, lambda one: one.plain([program])) if way == "recorded"
                                else failed(RUNS, outcome)))
            one = json_of(RECORDS, outcome)
            times[way].append(one["loop_ns"])
            told.setdefault(way, one)
        if turn:
            shutil.rmtree(recording, ignore_errors=True)
    return times, told


def check_cuda(session):
    program = program_of(session)
    times, told = timed(session, program)
    recording = session.machine.folder / "cuda.rankscope"
    yield from session.keep(recording, "cuda")
    yield Check("the output of the CUDA program is the same with and without the recorder", without_times(told["alone"]) == without_times(told["recorded"]), "compared without the times of its loop")
    work = session.gpu_work(recording)
    yield from check_counts(work, told["recorded"]["all"])
    yield from check_times(work, told["recorded"])
    best = {way: min(ns) for way, ns in times.items()}
    yield Check("the loop of the CUDA program takes at most 10 % longer with the recorder", best["recorded"] <= MOST_LONGER * best["alone"],
                "; ".join(f"{way} best {best[way] / 1e6:.2f} ms, {min(ns) / 1e6:.2f} to {max(ns) / 1e6:.2f} in {len(ns)} runs" for way, ns in times.items())
                + f": {100 * (best['recorded'] / best['alone'] - 1):+.2f} %")
    yield session.quality(recording)


def check_fixture(session, gpu):
    """Raw activity records of this device, as a fixture for tests without one."""
    target = session.results.path(f"activities-{device_slug(gpu)}.cupti")
    target.unlink(missing_ok=True)
    command = [program_of(session), "--rounds", 100]
    _, outcome = session.record("dumped", ["--memory"], command, env={**session.environment(command), "RANKSCOPE_CUPTI_DUMP": str(target.resolve())})
    what = "raw activity records are kept as a fixture"
    if not outcome.ok:
        raise Ends(blame(what, outcome, session, lambda one: one.plain(command)))
    size = target.stat().st_size if target.exists() else 0
    yield Check(what, 0 < size <= MOST_DUMPED, f"{size} bytes in {target.name}" if size else "nothing was written")


def text_of(path):
    try:
        return pathlib.Path(path).read_text()
    except OSError:
        return ""


def check_counters(session):
    """The GPU's own counters and NVML's. If the user is not allowed to read the former, the page shows the refusal; this does not count as a failure."""
    options = [f"--pm-sampling={COUNTERS_HZ}"]
    recording, _ = recorded(session, "counters", options, ["--rounds", 0, "--seconds", BUSY_S], "the CUDA program runs with --pm-sampling")
    yield from session.keep(recording, "counters")
    database = session.database(recording)
    tool = shutil.which("nvidia-smi") or "nvidia-smi"
    uuids = session.machine.run(tool, *UUIDS, least=2).out.split()
    mig = session.machine.run(tool, *MIG, least=2).out.split()[:1] == ["Enabled"]
    yield from check_nvml(database.counters(), database.metadata("nvml_gpu_0"), uuids, database.metadata_behind("nvml_without GPU 0 ") if mig else None)
    problems = database.metadata("pm_problem")
    if problems:
        why = forgiven(problems[0], text_of("/proc/driver/nvidia/params"), text_of("/proc/self/status"), session.rankscope("doctor", least=2).out, mig)
        yield Check("the GPU's own counters can be sampled", None if why else False, f"{problems[0]} ({why or 'nothing on this machine explains that'})")
        return
    holds = database.spans("compute", "hold%")
    busy = (holds[0][0], max(end for _, end, _ in holds)) if holds else None
    yield from check_samples(busy, database.samples("% sm_active_percent"), COUNTERS_HZ)
    names = sorted(name for name in database.counters() if name.startswith("GPU 0 ") and name.endswith(("_percent", "_per_second")))
    yield Check("counters of a single pass were sampled", any("sm_active" in name for name in names), ", ".join(names) + "; " + "; ".join(database.metadata("pm_gpu_0")))


def check_graphs(session):
    recording, told = recorded(session, "graph", ["--cuda-graphs", "graph"], ["--rounds", 100])
    database = session.database(recording)
    wanted = told["all"]["replays"]
    graphs, nodes = len(database.spans("graph")), kernels_of(database)["in_graph"]
    yield Check("--cuda-graphs graph records each launch of a graph as a whole", (graphs, nodes) == (wanted, 0), f"{graphs} of {wanted} launches, {nodes} kernels in them")


def check_memory(session):
    recording, _ = recorded(session, "memory", ["--memory"], ["--rounds", 10])
    marks = session.database(recording).marks("[memory]")
    yield Check("--memory records the allocations of device memory", marks >= 3, f"{marks} of at least 3")


def check_exit(session):
    recording, told = recorded(session, "leave", [], ["--rounds", 300, "--leave"], "the CUDA program ends with _exit under the recorder")
    found, wanted = kernels_of(session.database(recording)), collections.Counter(told["all"]["kernels"])
    yield Check("a process that ends with _exit keeps its kernels", found == wanted, f"{found.total()} of {wanted.total()}; the process ended 1.2 s after the last of them")


def check_profiler_range(session):
    recording, told = recorded(session, "range", ["--toggle", "cuda"], ["--rounds", 200, "--range"])
    found, wanted = kernels_of(session.database(recording)), collections.Counter(told["loop"]["kernels"])
    yield Check("--toggle cuda records from cudaProfilerStart to cudaProfilerStop", found == wanted, f"{dict(found)} of {dict(+wanted)}")
    yield from (Check(f"--toggle cuda: {check.what}", check.passed, check.said) for check in check_moves(session.gpu_work(recording), told["loop"]))


# Begins with the recording off; the program is busy from 1 s after its start to 5 s after it.
SWITCH = '"$@" & recorder=$!; sleep 3; kill -USR2 $recorder; sleep 1.5; kill -USR2 $recorder; wait $recorder'
BUSY_LONG = ["--rounds", 0, "--seconds", 4]


def check_signal(session):
    recording = session.machine.folder / "signal.rankscope"
    words = [session.bundle / "bin/rankscope", "record", "--out", recording, "--toggle", "USR2", "--", program_of(session), *BUSY_LONG]
    outcome = session.plain(["/bin/sh", "-c", SWITCH, "sh", *words])
    what = "--toggle USR2 records between two signals"
    if not outcome.ok:
        raise Ends(blame(what, outcome, session, lambda one: one.plain([program_of(one), *BUSY_LONG])))
    told = json_of(what, outcome)["all"]["kernels"]["hold"]
    found = kernels_of(session.database(recording))["hold"]
    yield Check(what, 0 < found <= told / 2, f"{found} of {told} kernels, for at most 1.5 s of 4 s")


def check_duration(session):
    recording, told = recorded(session, "duration", ["--duration", 3], ["--rounds", 100, "--seconds", 4])
    found, wanted = kernels_of(session.database(recording)), sum(told["all"]["kernels"].values())
    yield Check("--duration 3 records the first 3 s", 0 < found.total() < wanted, f"{found.total()} of {wanted} kernels")


def check_options(session):
    """Each option records something, and no failure of one hides the others."""
    for job in (check_exit, check_graphs, check_memory, check_profiler_range, check_duration, check_signal):
        try:
            yield from job(session)
        except Ends as end:
            yield end.check
