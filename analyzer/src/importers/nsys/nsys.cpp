#include "importers/nsys/nsys.h"

#include <algorithm>
#include <deque>

#include "importers/nsys/calls.h"
#include "importers/nsys/collectives.h"
#include "importers/nsys/ranks.h"
#include "importers/nsys/samples.h"
#include "importers/shared/jobs.h"
#include "rankscope/core/format.h"
#include "words/keys.h"

namespace rankscope::analyzer::nsys {
namespace {

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
                format("{} holds no events: record with nsys profile -t cuda,nvtx", path.string()));
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

  RunBuilder builder;
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
