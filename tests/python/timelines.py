"""The public timelines of large pipeline-parallel jobs (shared/data/timelines) as a table for rankscope.from_table()."""
import pyarrow.parquet

_KIND = {"forward-compute": "forward", "backward-compute": "backward", "optimizer": "optimizer", "gc": "op",
         "layernorm-grads-all-reduce": "op"}
_OP = {"forward-send": "send", "backward-send": "send", "forward-recv": "recv", "backward-recv": "recv",
       "embedding-grads-all-reduce": "allreduce", "params-all-gather": "allgather", "grads-reduce-scatter": "reduce_scatter",
       "optimizer-clip-main-grad": "allreduce"}
_PEER = {"forward-send": 1, "backward-send": -1, "forward-recv": -1, "backward-recv": 1}


def table(path):
    """{column: values} of one file; all rows of a step count from its beginning, in seconds."""
    rows = pyarrow.parquet.read_table(path).to_pylist()
    found = {name: [] for name in ("rank", "name", "start", "duration", "kind", "op", "group", "peer", "step", "micro_batch", "stage", "lane")}
    for row in rows:
        name, stage, dp = row["optype"], row["stage"], row["dp_rank"]
        peer = _PEER.get(name)
        group = {"embedding-grads-all-reduce": f"embedding.{dp}", "optimizer-clip-main-grad": "world"}.get(name)
        if name in ("params-all-gather", "grads-reduce-scatter"):
            group = f"dp.{stage}"
        if peer is not None:
            group = f"pp.{dp}"
        found["rank"].append(row["rank"])
        found["name"].append(name)
        found["start"].append(row["start_ts"])
        found["duration"].append(row["duration"])
        found["kind"].append(_KIND.get(name, "comm"))
        found["op"].append(_OP.get(name))
        found["group"].append(group)
        found["peer"].append(None if peer is None else (dp, stage + peer))
        found["step"].append(row["step"])
        found["micro_batch"].append(row["mb_id"] if row["mb_id"] >= 0 else None)
        found["stage"].append(stage)
        found["lane"].append("main")
    ranks = {(row["dp_rank"], row["stage"]): row["rank"] for row in rows}
    found["peer"] = [None if place is None else ranks[place] for place in found["peer"]]
    return found
