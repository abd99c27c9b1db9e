def memory_stats_as_nested_dict():
    def all_of(current, peak):
        return {"all": {"current": current, "peak": peak}}

    return {"allocated_bytes": all_of(1000, 3000), "reserved_bytes": all_of(4096, 4096)}
