#include "importers/nsys/nsys.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "importers/nsys/activities.h"
#include "importers/nsys/collectives.h"
#include "importers/nsys/ranks.h"
#include "importers/shared/jobs.h"
#include "rankscope/core/format.h"
#include "words/keys.h"

namespace rankscope::analyzer::nsys {
namespace {

/// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel": the version is the profiler's, not the program's.
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

// Calls on host threads: CUDA's runtime and driver, MPI, libraries, the operating system, and the profiler's own
// stalls.

/// One table of calls that have a begin, an end, a thread and a name.
struct CallTable {
  std::string_view name;
  SpanKind kind;
  std::string_view category;           ///< value of "cat"; empty: what the kind says already
  std::string_view text = "nameId";    ///< column with the id of the name
  std::string_view fallback = "call";  ///< name of rows that have none
};

constexpr std::array other_tables{
    CallTable{"OSRT_API", SpanKind::runtime, keys::os_runtime},
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

/// Reads all tables of calls. Those of CUDA are linked to the work they launched, and communication kernels learn from
/// which thread and when they were launched.
Result<void> read_calls(const Database& database, Timeline& timeline, Activities& activities) {
  RS_TRY_VOID(CudaCalls(database, timeline, activities).read());
  for (const CallTable& table : other_tables) RS_TRY_VOID(read_table(database, timeline, table));
  RS_TRY_VOID(read_graph_events(database, timeline, "CUDA_GRAPH_EVENTS"));
  return read_graph_events(database, timeline, "CUDA_GRAPH_NODE_EVENTS");
}

constexpr nanoseconds same_host_error{5'000};        // metrics.md 7.4, device times of one host
constexpr nanoseconds wall_clock_error{10'000'000};  // metrics.md 7.7

/// One export while it is read.
struct File {
  Database database;
  Session session;
  Census census;
  PayloadSchemas schemas;
  std::vector<Joined> joined;
};

Result<File> open_file(const std::filesystem::path& path) {
  RS_TRY(Database database, Database::open(path));
  RS_TRY(Session session, read_session(database));
  RS_TRY(Census census, take_census(database));
  if (!census.first)
    return fail(ErrorKind::unreadable,
                format("{} contains no events: record with nsys profile -t cuda,nvtx", path.string()));
  RS_TRY(PayloadSchemas schemas, PayloadSchemas::read(database));
  RS_TRY(std::vector<Joined> joined, read_communicators(database, schemas));
  return File{std::move(database), std::move(session), std::move(census), std::move(schemas), std::move(joined)};
}

/// What must be added to the times of each file, and what that makes of the clocks.
struct Clocks {
  std::vector<std::int64_t> shifts;
  ClockReach reach = ClockReach::all_processes;
};

/// The common clock of all files, as the time of each file's zero on it; nothing if they have none.
std::optional<std::vector<std::int64_t>> zeros(std::span<const File> files, ClockInfo& clock) {
  std::vector<std::int64_t> starts;
  const bool one_host =
      std::ranges::all_of(files, [&](const File& file) { return same_host(files.front().session, file.session); });
  for (const File& file : files) {
    const Session& session = file.session;
    const auto start = one_host ? session.host_start_ns : session.utc_ns;
    if (session.shifted || !start) return std::nullopt;
    starts.push_back(*start);
  }
  clock = one_host ? ClockInfo{"same_host", same_host_error} : ClockInfo{"wall_clock", wall_clock_error};
  return starts;
}

Clocks align(std::span<const File> files, RunInfo& info) {
  Clocks clocks;
  const Session& session = files.front().session;
  if (files.size() == 1) {
    clocks.shifts = {-*files.front().census.first};
    info.clock = {"same_host", same_host_error};
    if (session.utc_ns && !session.shifted) info.origin_unix_ns = *session.utc_ns - clocks.shifts.front();
    return clocks;
  }
  const auto starts = zeros(files, info.clock);
  clocks.reach = info.clock.method == "same_host" ? ClockReach::all_processes : ClockReach::each_file;
  if (!starts) {
    info.clock = {"none", nanoseconds{0}};
    for (const File& file : files) clocks.shifts.push_back(-*file.census.first);
    return clocks;
  }
  std::int64_t first = INT64_MAX;
  for (std::size_t i = 0; i < files.size(); ++i) first = std::min(first, (*starts)[i] + *files[i].census.first);
  for (const std::int64_t start : *starts) clocks.shifts.push_back(start - first);
  if (session.utc_ns && !session.shifted) info.origin_unix_ns = *session.utc_ns - clocks.shifts.front();
  return clocks;
}

void note_jobs(std::span<const File> files, RunBuilder& builder) {
  std::vector<JobEvidence> evidence;
  for (const File& file : files) {
    JobEvidence one{.file = file.database.file_name()};
    if (file.session.utc_ns && !file.session.shifted && file.census.last) {
      one.begin_unix_ns = *file.session.utc_ns + *file.census.first;
      one.end_unix_ns = *file.session.utc_ns + *file.census.last;
    }
    evidence.push_back(std::move(one));
  }
  note_other_jobs(evidence, builder);
}

Process process_of(RunBuilder& builder, const Session& session, ProcessKey key, const std::string& program) {
  Process process;
  process.pid = key.pid();
  process.host = builder.intern(session.host);
  process.program = builder.intern(program);
  return process;
}

Result<void> add_processes(const File& file, const std::map<ProcessKey, RankFound>& ranks, Timeline& timeline) {
  RS_TRY(const auto programs, read_programs(file.database));
  RunBuilder& builder = timeline.builder();
  for (const auto& [key, seen] : file.census.processes) {
    const auto program = programs.find(key);
    Process process = process_of(builder, file.session, key, program == programs.end() ? "" : program->second);
    if (const auto found = ranks.find(key); found != ranks.end()) {
      process.rank = found->second.rank;
      process.metadata.emplace_back(builder.intern("rank_source"), builder.intern(found->second.source));
    }
    process.metadata.emplace_back(builder.intern("nsys.file"), builder.intern(file.database.file_name()));
    timeline.add_process(key, std::move(process));
  }
  return {};
}

Result<FileCommunication> read_events(const File& file, const std::map<ProcessKey, RankFound>& ranks,
                                      Timeline& timeline) {
  RS_TRY_VOID(read_thread_names(file.database, timeline));
  RS_TRY_VOID(read_devices(file.database, timeline));
  FileCommunication found;
  found.joined = file.joined;
  for (const auto& [key, rank] : ranks) found.ranks.emplace(key, rank.rank);
  RS_TRY(found.calls, read_nvtx(file.database, timeline, file.schemas));
  RS_TRY(Activities activities, read_activities(file.database, timeline));
  RS_TRY_VOID(read_calls(file.database, timeline, activities));
  RS_TRY_VOID(read_memory_usage(file.database, timeline));
  RS_TRY_VOID(read_gpu_metrics(file.database, timeline));
  found.kernels = std::move(activities.comm);
  timeline.finish();
  return found;
}

/// What the user should know about one file, apart from its events.
Result<void> note_facts(const File& file, RunBuilder& builder) {
  RS_TRY_VOID(read_diagnostics(file.database, builder));
  RS_TRY(const std::uint64_t secrets, count_secrets(file.database));
  if (secrets > 0) add_loss({Counter::secrets_dropped, secrets, file.database.file_name()}, builder);
  note_absences(file.database, builder);
  auto& metadata = builder.info().metadata;
  if (!file.session.schema.empty()) metadata.emplace_back("nsys.schema", file.session.schema);
  if (!file.session.product.empty()) metadata.emplace_back("nsys.version", file.session.product);
  for (const auto& [name, key] :
       {std::pair{"NvDriverVersion", "driver_version"}, std::pair{"CudaDriverVersion", "cuda_driver_version"}})
    if (const std::string value = file.database.setting("TARGET_INFO_SYSTEM_ENV", name); !value.empty())
      metadata.emplace_back(key, value);
  const std::string command = export_with_payloads(file.database, file.schemas);
  if (command.empty()) return {};
  builder.quality().add(Counter::payloads_not_exported);
  metadata.emplace_back(keys::nsys_export_again, command);
  return {};
}

}  // namespace

bool recognises(std::string_view first_bytes, std::string_view) {
  return first_bytes.starts_with(std::string_view{"SQLite format 3\0", 16});
}

Result<std::shared_ptr<const Run>> read(std::span<const std::filesystem::path> paths, const ImportOptions& options) {
  if (paths.empty()) return fail(ErrorKind::usage, "no file was given");
  std::vector<File> files;
  for (const std::filesystem::path& path : paths) {
    RS_TRY(File file, open_file(path));
    files.push_back(std::move(file));
  }
  std::vector<FileFacts> facts;
  for (const File& file : files) facts.push_back({file.database, file.census, file.session, file.joined});
  RS_TRY(const RankPlan plan, assign_ranks(facts, options));

  RunBuilder builder{options.texts};
  builder.info().source = "nsys";
  builder.info().world_size = plan.world_size;
  builder.quality().add(Counter::rank_unknown, plan.guessed);
  for (const QualityPlace& loss : options.losses) add_loss(loss, builder);
  const Clocks clocks = align(files, builder.info());
  note_jobs(files, builder);
  std::vector<FileCommunication> communication;
  for (std::size_t i = 0; i < files.size(); ++i) {
    RS_TRY(Names names, Names::of(files[i].database, builder));
    Timeline timeline{builder, files[i].census, std::move(names), clocks.shifts[i]};
    RS_TRY_VOID(add_processes(files[i], plan.files[i], timeline));
    RS_TRY(FileCommunication own, read_events(files[i], plan.files[i], timeline));
    communication.push_back(std::move(own));
    RS_TRY_VOID(note_facts(files[i], builder));
    if (options.progress && !options.progress(static_cast<double>(i + 1) / static_cast<double>(files.size())))
      return fail(ErrorKind::unreadable, "reading was cancelled");
  }
  add_collectives(builder, communication, clocks.reach);
  return std::move(builder).build().map_error(while_doing(paths.front().string()));
}

}  // namespace rankscope::analyzer::nsys
