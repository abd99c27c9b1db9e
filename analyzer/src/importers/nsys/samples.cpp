#include "importers/nsys/activities.h"

#include <array>

#include "rankscope/core/format.h"

namespace rankscope::analyzer::nsys {
namespace {

bool is_device_memory(std::int64_t kind) { return kind == 2 || kind == 5; }  // device, device static

/// Allocations of one export.
class MemoryUsage {
 public:
  explicit MemoryUsage(Timeline& timeline) : timeline_(timeline), builder_(timeline.builder()) {}

  Result<void> read(const Database& database) {
    constexpr std::string_view table = "CUDA_GPU_MEMORY_USAGE_EVENTS";
    if (!database.has(table)) return {};
    constexpr std::array<std::string_view, 7> columns{"start", "globalPid", "deviceId",           "address",
                                                      "bytes", "memKind",   "memoryOperationType"};
    RS_TRY(Rows rows, database.rows(table, columns, "ORDER BY start"));
    while (rows.next()) row(rows);
    return rows.finish();
  }

 private:
  void row(const Rows& rows) {
    const auto key = timeline_.process(rows.integer(1));
    const auto bytes = rows.integer(4);
    if (!key || !bytes || !is_plausible(*bytes)) return builder_.quality().add(Counter::events_incomplete);
    const auto time = timeline_.moment(*key, rows.integer(0));
    if (!time) return;  // the census has counted it
    const bool frees = rows.integer_or(6, 0) == 1;
    const std::int64_t change = frees ? -*bytes : *bytes;
    const bool on_device = is_device_memory(rows.integer_or(5, 2));
    const std::int64_t device = rows.integer_or(2, -1);
    const std::uint32_t mark = builder_.add_mark(timeline_.thread(*key, std::nullopt), mark_name_, *time);
    const auto add = [&](std::string_view name, std::int64_t value) {
      builder_.add_mark_attribute(mark, builder_.intern(name), value);
    };
    add("Device Type", on_device ? 1 : 0);
    add("Device Id", on_device ? device : -1);
    if (const auto address = rows.integer(3)) add("Addr", *address);
    add("Bytes", change);
    if (!on_device) return;
    std::int64_t& held = held_[{*key, device}];
    if (__builtin_add_overflow(held, change, &held)) held = 0;
    add("Total Reserved", held);
    builder_.add_sample(timeline_.row(*key), counter_name(*key, device), *time, static_cast<double>(held));
  }

  /// What PyTorch's allocator reserves it takes with these calls, and so do NCCL and cuBLAS.
  StringId counter_name(ProcessKey key, std::int64_t device) {
    const auto seen = timeline_.census().processes.find(key);
    const bool several = seen != timeline_.census().processes.end() && seen->second.devices.size() > 1;
    return builder_.intern(several ? format("GPU {} reserved_bytes", device) : std::string{"reserved_bytes"});
  }

  Timeline& timeline_;
  RunBuilder& builder_;
  StringId mark_name_ = builder_.intern("[memory]");
  std::map<std::pair<ProcessKey, std::int64_t>, std::int64_t> held_;
};

class GpuMetrics {
 public:
  GpuMetrics(const Database& database, Timeline& timeline) : database_(database), timeline_(timeline) {}

  Result<void> read() {
    constexpr std::string_view table = "GPU_METRICS";
    if (!database_.has(table) || timeline_.census().processes.empty()) return {};
    RS_TRY_VOID(read_owners());
    RS_TRY_VOID(read_names());
    constexpr std::array<std::string_view, 4> columns{"timestamp", "typeId", "metricId", "value"};
    RS_TRY(Rows rows, database_.rows(table, columns));
    while (rows.next()) {
      const auto value = rows.real(3);
      const auto type = rows.integer(1);
      const auto metric = rows.integer(2);
      const auto owner = type ? std::optional{owner_of(*type & 0xFF)} : std::nullopt;
      const auto time = owner ? timeline_.moment(*owner, rows.integer(0)) : std::nullopt;
      if (value && metric && time)
        timeline_.builder().add_sample(timeline_.row(*owner), name(*type, *metric), *time, *value);
      else
        timeline_.builder().quality().add(Counter::events_incomplete);
    }
    return rows.finish();
  }

 private:
  /// The process that uses a device, by its number on the machine.
  Result<void> read_owners() {
    if (!database_.has("TARGET_INFO_CUDA_DEVICE")) return {};
    constexpr std::array<std::string_view, 3> columns{"gpuId", "cudaId", "pid"};
    RS_TRY(Rows rows, database_.rows("TARGET_INFO_CUDA_DEVICE", columns));
    while (rows.next())
      for (const auto& [key, seen] : timeline_.census().processes)
        if (key.pid() == rows.integer_or(2, -1) && seen.devices.contains(rows.integer_or(1, -1)))
          owners_.try_emplace(rows.integer_or(0, -1), key);
    return rows.finish();
  }

  Result<void> read_names() {
    constexpr std::string_view table = "TARGET_INFO_GPU_METRICS";
    if (!database_.has(table)) return {};
    constexpr std::array<std::string_view, 3> columns{"typeId", "metricId", "metricName"};
    RS_TRY(Rows rows, database_.rows(table, columns));
    while (rows.next())
      texts_.insert_or_assign({rows.integer_or(0, 0), rows.integer_or(1, 0)}, std::string{rows.text(2)});
    return rows.finish();
  }

  /// Without the table of devices: the process that uses the ordinal of that number, else the first.
  ProcessKey owner_of(std::int64_t gpu) {
    const auto found = owners_.find(gpu);
    if (found != owners_.end()) return found->second;
    for (const auto& [key, seen] : timeline_.census().processes)
      if (seen.devices.contains(gpu)) return owners_[gpu] = key;
    return owners_[gpu] = timeline_.census().processes.begin()->first;
  }

  StringId name(std::int64_t type, std::int64_t metric) {
    const auto [known, added] = names_.try_emplace({type, metric});
    if (!added) return known->second;
    const auto text = texts_.find({type, metric});
    const std::string own = text == texts_.end() ? format("metric {}", metric) : text->second;
    return known->second = timeline_.builder().intern(format("GPU {} {}", type & 0xFF, own));
  }

  const Database& database_;
  Timeline& timeline_;
  std::map<std::int64_t, ProcessKey> owners_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> texts_;
  std::map<std::pair<std::int64_t, std::int64_t>, StringId> names_;
};

}  // namespace

Result<void> read_memory_usage(const Database& database, Timeline& timeline) {
  return MemoryUsage(timeline).read(database);
}

Result<void> read_gpu_metrics(const Database& database, Timeline& timeline) {
  return GpuMetrics(database, timeline).read();
}

}  // namespace rankscope::analyzer::nsys
