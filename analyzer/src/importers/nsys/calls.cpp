#include "importers/nsys/calls.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "rankscope/core/format.h"
#include "words/keys.h"

namespace rankscope::analyzer::nsys {
namespace {

/// One table of calls that have a begin, an end, a thread and a name.
struct CallTable {
  std::string_view name;
  SpanKind kind;
  std::string_view category;           ///< value of "cat"; empty: what the kind says already
  std::string_view text = "nameId";    ///< column with the id of the name
  std::string_view fallback = "call";  ///< name of rows that have none
};

constexpr std::array other_tables{
    CallTable{"OSRT_API", SpanKind::runtime, "os_runtime"},
    CallTable{"CUPTI_ACTIVITY_KIND_OVERHEAD", SpanKind::overhead, {}, "nameId", "CUPTI overhead"},
    CallTable{"PROFILER_OVERHEAD", SpanKind::overhead, {}, "nameId", "Profiler overhead"},
    CallTable{"MPI_P2P_EVENTS", SpanKind::api, "mpi", "textId"},
    CallTable{"MPI_COLLECTIVES_EVENTS", SpanKind::api, "mpi", "textId"},
    CallTable{"MPI_START_WAIT_EVENTS", SpanKind::api, "mpi", "textId"},
    CallTable{"MPI_OTHER_EVENTS", SpanKind::api, "mpi", "textId"},
    CallTable{"CUBLAS_EVENTS", SpanKind::runtime, "cublas"},
    CallTable{"CUDNN_EVENTS", SpanKind::runtime, "cudnn"},
};

Result<void> read_table(const Database& database, Timeline& timeline, const CallTable& table) {
  if (!database.has(table.name)) return {};
  RunBuilder& builder = timeline.builder();
  const StringId category = table.category.empty() ? StringId::none() : builder.intern(table.category);
  const StringId category_key = builder.intern(keys::category);
  const StringId result_key = builder.intern("return value");
  const std::array<std::string_view, 5> columns{"start", "end", "globalTid", table.text, "returnValue"};
  RS_TRY(Rows rows, database.rows(table.name, columns));
  while (rows.next()) {
    const auto key = timeline.process(rows.integer(2));
    const auto when = key ? timeline.when(*key, rows.integer(0), rows.integer(1)) : std::nullopt;
    if (!when) continue;
    const StringId name = rows.is_null(3) ? builder.intern(table.fallback) : timeline.names().intern(rows.integer(3));
    const LaneId lane = timeline.thread(*key, rows.integer(2));
    const std::uint32_t ticket = builder.add_span(lane, table.kind, name, when->time, when->flags);
    const SpanAttributes attributes{builder, ticket};
    attributes.text(category_key, category);
    if (table.kind == SpanKind::runtime && rows.integer_or(4, 0) != 0) attributes.number(result_key, rows.integer(4));
  }
  return rows.finish();
}

/// CUDA's runtime and driver calls.
class CudaCalls {
 public:
  CudaCalls(const Database& database, Timeline& timeline, Activities& activities)
      : database_(database), timeline_(timeline), builder_(timeline.builder()), activities_(activities) {}

  Result<void> read() {
    constexpr std::string_view table = "CUPTI_ACTIVITY_KIND_RUNTIME";
    if (!database_.has(table)) return {};
    constexpr std::array<std::string_view, 7> columns{"start",  "end",        "globalTid",  "correlationId",
                                                      "nameId", "eventClass", "returnValue"};
    RS_TRY(Rows rows, database_.rows(table, columns));
    while (rows.next()) call(rows);
    builder_.quality().add(Counter::kernels_without_launch,
                           activities_.launched.total() - std::min(linked_, activities_.launched.total()));
    return rows.finish();
  }

 private:
  void call(const Rows& rows) {
    const auto key = timeline_.process(rows.integer(2));
    const auto when = key ? timeline_.when(*key, rows.integer(0), rows.integer(1)) : std::nullopt;
    if (!when) return;
    const LaneId lane = timeline_.thread(*key, rows.integer(2));
    const std::uint32_t ticket = builder_.add_span(lane, SpanKind::runtime, name(rows), when->time, when->flags);
    const SpanAttributes attributes{builder_, ticket};
    attributes.number(correlation_key_, rows.integer(3));
    if (rows.integer_or(5, 0) == 1) attributes.text(category_key_, driver_);
    if (rows.integer_or(6, 0) != 0) attributes.number(result_key_, rows.integer(6));
    for (const Launched::Entry& work : activities_.launched.of(*key, rows.integer_or(3, 0))) {
      builder_.add_link(LinkKind::launch, ticket, work.ticket);
      ++linked_;
      if (work.comm == Launched::Entry::none) continue;
      CommKernel& kernel = activities_.comm[work.comm];
      kernel.launched = true;
      kernel.thread = lane;
      kernel.global_tid = rows.integer_or(2, key->value);
      kernel.launch = when->time;
    }
  }

  StringId name(const Rows& rows) {
    const auto id = rows.integer(4);
    if (!id) return timeline_.names().intern(id);
    const auto [known, added] = names_.try_emplace(*id);
    if (added) {
      const StringId full = timeline_.names().intern(id);
      known->second = builder_.intern(without_version(builder_.text(full)));
    }
    return known->second;
  }

  const Database& database_;
  Timeline& timeline_;
  RunBuilder& builder_;
  Activities& activities_;
  StringId correlation_key_ = builder_.intern(keys::correlation);
  StringId category_key_ = builder_.intern(keys::category);
  StringId driver_ = builder_.intern("cuda_driver");
  StringId result_key_ = builder_.intern("return value");
  std::uint64_t linked_ = 0;
  std::unordered_map<std::int64_t, StringId> names_;  // some hundred functions
};

/// Creation of graphs and of their nodes: moments on the thread that made them.
Result<void> read_graph_events(const Database& database, Timeline& timeline, std::string_view table) {
  if (!database.has(table)) return {};
  RunBuilder& builder = timeline.builder();
  constexpr std::array<std::string_view, 6> columns{"start",   "globalTid",   "nameId",
                                                    "graphId", "graphExecId", "graphNodeId"};
  constexpr std::array<std::string_view, 3> names{keys::graph_id, "graph exec id", keys::graph_node_id};
  RS_TRY(Rows rows, database.rows(table, columns));
  while (rows.next()) {
    const auto key = timeline.process(rows.integer(1));
    const auto time = key ? timeline.moment(*key, rows.integer(0)) : std::nullopt;
    if (!time) continue;
    const StringId name = timeline.names().intern(rows.integer(2));
    const std::uint32_t mark = builder.add_mark(timeline.thread(*key, rows.integer(1)), name, *time);
    for (int i = 0; i < 3; ++i)
      if (const auto id = rows.integer(3 + i))
        builder.add_mark_attribute(mark, builder.intern(names[static_cast<std::size_t>(i)]), *id);
  }
  return rows.finish();
}

}  // namespace

std::string without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos) return std::string{name};
  std::size_t last = at + 2;
  while (last < name.size() && name[last] >= '0' && name[last] <= '9') ++last;
  constexpr std::size_t fewest_digits = 4;  // "_v3020"; "_v2" belongs to the function
  const bool ends_a_word = last == name.size() || name[last] == '_';
  if (last - (at + 2) < fewest_digits || !ends_a_word) return std::string{name};
  return format("{}{}", name.substr(0, at), name.substr(last));
}

Result<void> read_calls(const Database& database, Timeline& timeline, Activities& activities) {
  RS_TRY_VOID(CudaCalls(database, timeline, activities).read());
  for (const CallTable& table : other_tables) RS_TRY_VOID(read_table(database, timeline, table));
  RS_TRY_VOID(read_graph_events(database, timeline, "CUDA_GRAPH_EVENTS"));
  return read_graph_events(database, timeline, "CUDA_GRAPH_NODE_EVENTS");
}

}  // namespace rankscope::analyzer::nsys
