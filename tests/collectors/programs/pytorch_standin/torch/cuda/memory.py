import os


def memory_stats_as_nested_dict():
    if "WITHOUT_MEMORY_STATS" in os.environ:
        print("asked for memory")
        raise RuntimeError("no statistics")

    def all_of(current, peak):
        return {"all": {"current": current, "peak": peak}}

    return {"allocated_bytes": all_of(1000, 3000), "reserved_bytes": all_of(4096, 4096)}
