"""Prints what the calls of HolisticTraceAnalysis return for a folder of traces, as JSON.

build/hta-venv/bin/python hta_calls.py FOLDER OTHER

OTHER is a second folder, for HTA's comparison of two traces. This program runs with the packages of scripts/requirements-hta.txt;
hta_beside_test.py compares its output with rankscope. A call that raises appears as {"error": its type, "text": its message}.
"""
import importlib.metadata
import json
import logging
import sys
import tempfile
import warnings

import pandas
from hta.trace_analysis import TraceAnalysis
from hta.trace_diff import DeviceType, TraceDiff

MANY = 1_000_000  # more kernels than any trace has, so that HTA combines none as "others"


def rows(frame):
    """The rows of a data frame, with its index; None stays None."""
    if frame is None:
        return None
    frame = frame.reset_index()
    frame.columns = [".".join(part for part in column if part) if isinstance(column, tuple) else column for column in frame.columns]
    return json.loads(frame.to_json(orient="records", double_precision=15))


def by_rank(frames):
    return {rank: rows(frame) for rank, frame in frames.items()}


def critical_path(hta, rank):
    graph, found = hta.critical_path_analysis(rank=rank, annotation="ProfilerStep", instance_id=0)
    path = graph.get_critical_path_breakdown()
    return {"found": bool(found), "duration_us": int(path.duration.sum()), "nodes": len(graph.critical_path_nodes)}


def public_methods(one):
    return sorted(name for name in vars(one) if not name.startswith("_"))


def calls(folder, other, scratch):
    hta = TraceAnalysis(trace_dir=folder)
    (rank,) = hta.t.traces
    queues = lambda: hta.get_queue_length_time_series(ranks=[rank])  # noqa: E731
    yield "rank", lambda: int(rank)
    yield "public", lambda: public_methods(TraceAnalysis) + public_methods(TraceDiff)
    yield "temporal", lambda: rows(hta.get_temporal_breakdown(visualize=False))
    yield "overlap", lambda: rows(hta.get_comm_comp_overlap(visualize=False))
    yield "kernels", lambda: [rows(one) for one in hta.get_gpu_kernel_breakdown(visualize=False, num_kernels=MANY)]
    yield "kernels_by_default", lambda: rows(hta.get_gpu_kernel_breakdown(visualize=False)[1])
    yield "idle", lambda: rows(hta.get_idle_time_breakdown(ranks=[rank], visualize=False)[0])
    yield "queue_summary", lambda: rows(hta.get_queue_length_summary(ranks=[rank]))
    yield "queue_summary_from_series", lambda: rows(hta.get_queue_length_summary_from_time_series(queues()))
    yield "queue_series", lambda: by_rank(queues())[rank]
    yield "blocked", lambda: rows(hta.get_time_spent_blocked_on_full_queue(queues()))
    yield "blocked_at_1", lambda: rows(hta.get_time_spent_blocked_on_full_queue(queues(), max_queue_length=1))
    yield "blocked_at_8", lambda: rows(hta.get_time_spent_blocked_on_full_queue(queues(), max_queue_length=8))
    yield "bandwidth", lambda: rows(hta.get_memory_bw_summary(ranks=[rank]))
    yield "bandwidth_series", lambda: by_rank(hta.get_memory_bw_time_series(ranks=[rank]))[rank]
    yield "stragglers", hta.get_potential_stragglers
    yield "steps", lambda: [int(step) for step in hta.get_profiler_steps()]
    yield "annotations", lambda: rows(hta.get_gpu_user_annotation_breakdown(visualize=False, num_kernels=MANY))
    yield "host_annotations", lambda: rows(hta.get_gpu_user_annotation_breakdown(use_gpu_annotation=False, visualize=False, num_kernels=MANY))
    yield "kernels_with_annotations", lambda: rows(hta.get_gpu_kernels_with_user_annotations(rank)[["correlation", "s_user_annotation"]])
    yield "launches", lambda: by_rank(hta.get_cuda_kernel_launch_stats(ranks=[rank], visualize=False))[rank]
    yield "aten", lambda: by_rank(hta.get_aten_op_kernels_and_delay(ranks=[rank]))[rank]
    yield "sequences", lambda: rows(hta.get_frequent_cuda_kernel_sequences("aten::", scratch, rank=rank))
    yield "counters", lambda: [rows(one) for one in hta.get_cupti_counter_data_with_operators(ranks=[rank])]
    yield "critical_path", lambda: critical_path(hta, rank)
    yield "diff", lambda: rows(TraceDiff.compare_traces(folder, other))
    yield "ops_diff", lambda: TraceDiff.ops_diff(folder, other, device_type=DeviceType.GPU)


def answer(call):
    try:
        return call()
    except Exception as why:  # what HTA cannot do is part of the comparison
        return {"error": type(why).__name__, "text": str(why)[:300]}


def main():
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as scratch:
        found = {name: answer(call) for name, call in calls(*sys.argv[1:], scratch)}
    found["versions"] = {"HTA": importlib.metadata.version("HolisticTraceAnalysis"), "pandas": pandas.__version__}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
