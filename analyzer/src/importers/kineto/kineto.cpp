#include "importers/kineto/kineto.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "importers/kineto/collectives.h"
#include "importers/kineto/input.h"
#include "importers/kineto/lost_tails.h"
#include "importers/kineto/trace_file.h"
#include "importers/kineto/trace_reader.h"
#include "importers/shared/importer.h"
#include "importers/shared/jobs.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/keys.h"

namespace rankscope::analyzer::kineto {
namespace {

// Reads the files of a run on several threads: plain files in stretches, packed ones as they are unpacked.

constexpr std::size_t stretch_size = std::size_t{16} << 20;

/// A piece of work: a packed file, or a stretch of a plain one.
struct Task {
  std::size_t file = 0;
  const char* begin = nullptr;
  bool first = true;
  std::vector<const char*> stops;  // where later stretches of the file begin
};

/// What came of it.
struct Outcome {
  explicit Outcome(Texts texts) : part(std::make_unique<Part>(texts)) {}
  std::unique_ptr<Part> part;
  Metadata metadata;
  const char* reached = nullptr;  // where it stopped because another stretch begins there; null: the end of the file
  bool is_trace = false;
};

/// Plain files are cut where an event begins. A wrong guess costs time only: no stretch is used but from a place that
/// the one before it reached.
std::vector<Task> plan(std::span<const MappedText> files) {
  std::vector<Task> tasks;
  for (std::size_t file = 0; file < files.size(); ++file) {
    const std::string_view text = files[file].text();
    tasks.push_back({file, text.data(), true, {}});
    if (files[file].is_packed()) continue;
    const char* const end = text.data() + text.size();
    std::vector<const char*> starts;
    for (std::size_t at = stretch_size; at + stretch_size / 2 < text.size(); at += stretch_size) {
      const char* const start = find_event(text.data() + at, end);
      if (start != end && (starts.empty() || start > starts.back())) starts.push_back(start);
    }
    tasks.back().stops = starts;
    for (std::size_t i = 0; i < starts.size(); ++i)
      tasks.push_back({file, starts[i], false, {starts.begin() + static_cast<std::ptrdiff_t>(i) + 1, starts.end()}});
  }
  return tasks;
}

Outcome read_plain(const Task& task, std::string_view text, Texts texts) {
  Outcome outcome{texts};
  TraceReader reader = task.first ? TraceReader{*outcome.part, outcome.metadata}
                                  : TraceReader::inside_events(*outcome.part, outcome.metadata);
  reader.stop_at(task.stops);
  const char* const reached = reader.read(task.begin, text.data() + text.size(), MoreComes::no);
  if (reader.stopped())
    outcome.reached = reached;
  else
    reader.finish();
  outcome.is_trace = reader.is_trace();
  return outcome;
}

Outcome read_packed(std::string_view packed, Texts texts, const std::atomic<bool>& stop) {
  Outcome outcome{texts};
  TraceReader reader{*outcome.part, outcome.metadata};
  Unpacker unpacker{packed};
  std::string_view rest;
  bool ended = false;
  while (!ended && !stop) {
    const std::string_view text = unpacker.next(rest);
    ended = text.size() == rest.size();
    const char* const end = text.data() + text.size();
    const char* const reached = reader.read(text.data(), end, ended ? MoreComes::no : MoreComes::yes);
    rest = text.substr(static_cast<std::size_t>(reached - text.data()));
  }
  reader.finish();
  outcome.is_trace = reader.is_trace();
  if (unpacker.incomplete() && outcome.part->quality().of(Counter::truncated_input) == 0)
    outcome.part->quality().add(Counter::truncated_input);
  return outcome;
}

/// Runs tasks on several threads and hands out what came of them in order. Not too many wait to be fetched.
class Crew {
 public:
  Crew(std::span<const MappedText> files, std::vector<Task> tasks, Texts texts, unsigned threads)
      : files_(files), tasks_(std::move(tasks)), texts_(texts), outcomes_(tasks_.size()), most_waiting_(2 * threads) {
    for (unsigned i = 0; i < std::min<std::size_t>(threads, tasks_.size()); ++i)
      workers_.emplace_back([this] { work(); });
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    const std::lock_guard lock{mutex_};
    stop_ = true;
    changed_.notify_all();
  }

  [[nodiscard]] const std::vector<Task>& tasks() const { return tasks_; }
  Outcome fetch(std::size_t task) {
    std::unique_lock lock{mutex_};
    fetched_ = task;
    changed_.notify_all();
    changed_.wait(lock, [&] { return outcomes_[task].has_value(); });
    return std::move(*outcomes_[task]);
  }

 private:
  void work() {
    while (true) {
      std::size_t mine = 0;
      {
        std::unique_lock lock{mutex_};
        changed_.wait(lock, [this] { return stop_ || next_ >= tasks_.size() || next_ < fetched_ + most_waiting_; });
        if (stop_ || next_ >= tasks_.size()) return;
        mine = next_++;
      }
      const std::string_view text = files_[tasks_[mine].file].text();
      Outcome outcome = files_[tasks_[mine].file].is_packed() ? read_packed(text, texts_, stop_)
                                                              : read_plain(tasks_[mine], text, texts_);
      const std::lock_guard lock{mutex_};
      outcomes_[mine] = std::move(outcome);
      changed_.notify_all();
    }
  }

  std::span<const MappedText> files_;
  std::vector<Task> tasks_;
  Texts texts_;
  std::vector<std::optional<Outcome>> outcomes_;
  std::size_t most_waiting_;
  std::size_t next_ = 0;
  std::size_t fetched_ = 0;
  std::atomic<bool> stop_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::jthread> workers_;
};

void take(Outcome outcome, TraceFile& file, RunBuilder& run) {
  file.is_trace = file.is_trace || outcome.is_trace;
  file.metadata.merge(std::move(outcome.metadata));
  file.take(std::move(*outcome.part), run);
}

/// One entry per file, in their order; their rows are in `run`, whose processes are those files. `cancelled` is an
/// Error like any other.
Result<std::vector<TraceFile>> load(std::span<const std::filesystem::path> paths, const ImportOptions& options,
                                    RunBuilder& run) {
  std::vector<MappedText> texts;
  std::vector<TraceFile> files;
  for (const std::filesystem::path& path : paths) {
    RS_TRY(MappedText text, MappedText::open(path));
    texts.push_back(std::move(text));
    files.emplace_back();
    files.back().path = path;
    files.back().process = run.add_process({});
  }
  const unsigned threads = options.threads > 0 ? options.threads : std::max(1U, std::thread::hardware_concurrency());
  Crew crew{texts, plan(texts), options.texts, threads};
  const std::vector<Task>& tasks = crew.tasks();
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    Outcome outcome = crew.fetch(i);
    // Stretches from where nobody arrived were guessed wrong, or lie behind the events.
    if (!tasks[i].first && files[tasks[i].file].next != tasks[i].begin) continue;
    files[tasks[i].file].next = outcome.reached;
    take(std::move(outcome), files[tasks[i].file], run);
    if (options.progress && !options.progress(static_cast<double>(i + 1) / static_cast<double>(tasks.size())))
      return fail(ErrorKind::unreadable, "reading was cancelled");
  }
  return files;
}

constexpr std::int64_t unix_times_from = 1'000'000'000'000'000'000;  // September 2001, in ns
constexpr std::int64_t latest = 4'000'000'000'000'000'000;
constexpr nanoseconds wall_clock_error{10'000'000};  // metrics.md 7.7: clocks of hosts that are set by NTP
constexpr nanoseconds one_host_error{1'000};         // metrics.md 7.4: times of hosts
constexpr nanoseconds one_host_device_error{5'000};  // of their accelerators

/// Unix time of the first event, or nothing where the file does not say when its clock started.
std::optional<std::int64_t> unix_begin(const TraceFile& file) {
  if (!file.extent) return std::nullopt;
  const std::int64_t begin = ns_of(file.extent->begin);
  const std::int64_t base = file.metadata.base_ns.value_or(0);
  if (!file.metadata.base_ns && begin < unix_times_from) return std::nullopt;
  if (ns_of(file.extent->end) > latest - base) return std::nullopt;
  return base + begin;
}

/// True for the files of one export of ours, which share their time 0.
bool is_one_export(std::span<const TraceFile> files) {
  const auto& first = files.front().metadata;
  return std::ranges::all_of(files, [&first](const TraceFile& file) {
    const auto& own = file.metadata.own;
    return own && own->rows && own->rows->clock == first.own->rows->clock && own->run == first.own->run &&
           own->rows->zero_ns == first.own->rows->zero_ns && file.metadata.base_ns == first.base_ns;
  });
}

/// Keeps the clock of the run that was exported, and its time 0: what stood there may not be in the files.
void align_export(std::span<const TraceFile> files, RunBuilder& run) {
  const OwnRows& rows = *files.front().metadata.own->rows;
  const std::vector<nanoseconds> shifts(files.size(), nanoseconds{rows.zero_ns});
  run.shift(shifts);
  run.info().clock = rows.clock;
  if (const auto base = files.front().metadata.base_ns) run.info().origin_unix_ns = *base - rows.zero_ns;
}

/// What leads back from run time to the ts of the file, for numbers that depend on its rounding. An export of ours says
/// how its own times lead back to those of the file that was read first; only what came from Kineto has these facts.
void note_file_times(const TraceFile& file, nanoseconds shift, RunBuilder& run) {
  auto& facts = run.process(file.process).metadata;
  const StringId key = run.intern(keys::file_time_offset);
  if (!file.metadata.own) {
    facts.emplace_back(key, run.intern(std::to_string(-shift.count())));
    facts.emplace_back(run.intern(keys::file_time_type), run.intern(file.float_times ? "float" : "integer"));
    return;
  }
  const auto known = std::ranges::find(facts, key, &std::pair<StringId, StringId>::first);
  if (known == facts.end()) return;
  const auto offset = moved_offset(run.text(known->second), -shift.count());
  if (offset)
    known->second = run.intern(*offset);
  else
    facts.erase(known);
}

/// Puts all files on one axis whose 0 is the first event of all.
void align(std::span<const TraceFile> files, RunBuilder& run) {
  if (is_one_export(files)) return align_export(files, run);
  std::vector<std::optional<std::int64_t>> begins;
  std::optional<std::int64_t> origin;
  std::size_t unknown = 0;
  for (const TraceFile& file : files) {
    begins.push_back(unix_begin(file));
    if (!begins.back() && file.extent) ++unknown;
    if (begins.back()) origin = std::min(origin.value_or(*begins.back()), *begins.back());
  }
  std::vector<nanoseconds> shifts;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const std::int64_t own = files[i].extent ? ns_of(files[i].extent->begin) : 0;
    shifts.emplace_back(begins[i] ? *begins[i] - own - *origin : -own);
  }
  run.shift(shifts);
  for (std::size_t i = 0; i < files.size(); ++i) note_file_times(files[i], shifts[i], run);
  run.quality().add(Counter::time_origin_unknown, unknown);
  const auto differs = [&files](const TraceFile& file) {
    return file.metadata.base_ns != files.front().metadata.base_ns;
  };
  run.quality().add(Counter::base_time_differs, static_cast<std::uint64_t>(std::ranges::count_if(files, differs)));
  if (origin && unknown == 0) run.info().origin_unix_ns = *origin;
  if (files.size() < 2 || unknown > 0) return;
  const bool one_host = std::ranges::all_of(files, [&files](const TraceFile& file) {
    return !file.metadata.host.empty() && file.metadata.host == files.front().metadata.host;
  });
  const bool on_device =
      std::ranges::any_of(run.lanes(), [](const Lane& lane) { return lane.kind == LaneKind::stream; });
  const nanoseconds error = on_device ? one_host_device_error : one_host_error;
  run.info().clock = {one_host ? "same_host" : "wall_clock", one_host ? error : wall_clock_error};
}

/// Exports of our own recordings tell which one; of others the profiler notes a name, if the scheduler gave one.
void note_jobs(std::span<const TraceFile> files, RunBuilder& run) {
  std::vector<JobEvidence> evidence;
  for (const TraceFile& file : files) {
    JobEvidence one{.file = file.path.filename().string(), .world_size = file.metadata.world_size};
    const auto job = std::ranges::find(file.metadata.facts, "PT_PROFILER_JOB_NAME", &Facts::value_type::first);
    if (job != file.metadata.facts.end()) one.job = job->second;
    if (const auto& own = file.metadata.own; own && own->rows && own->source == "rankscope")
      one.recording = Recording{own->run, file.metadata.base_ns ? *file.metadata.base_ns - own->rows->zero_ns : 0};
    if (const auto begin = unix_begin(file)) {
      one.begin_unix_ns = begin;
      one.end_unix_ns = *begin + file.extent->length().count();
    }
    evidence.push_back(std::move(one));
  }
  note_other_jobs(evidence, run);
}

/// What our own export said about the run as a whole, and what all files agree on.
void describe_run(std::span<const TraceFile> files, std::span<const RankId> ranks, RunBuilder& run) {
  RunInfo& info = run.info();
  info.source = "kineto";
  for (const TraceFile& file : files) {
    info.world_size = std::max(info.world_size, file.metadata.world_size);
    if (!file.metadata.own) continue;
    if (!file.metadata.own->source.empty()) info.source = file.metadata.own->source;
    if (info.metadata.empty()) info.metadata = file.metadata.own->run;
  }
  const auto world = static_cast<std::uint64_t>(info.world_size);
  if (world > ranks.size()) run.quality().add(Counter::ranks_missing, world - ranks.size());
}

}  // namespace

bool recognises(std::string_view first_bytes, std::string_view) {
  const std::size_t first = first_bytes.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first == std::string_view::npos || (first_bytes[first] != '{' && first_bytes[first] != '[')) return false;
  constexpr std::array<std::string_view, 5> words{"\"traceEvents\"", "\"schemaVersion\"", "\"deviceProperties\"",
                                                  "\"distributedInfo\"", "\"ph\""};
  return std::ranges::any_of(
      words, [first_bytes](std::string_view word) { return first_bytes.find(word) != std::string_view::npos; });
}

Result<std::shared_ptr<const Run>> read(std::span<const std::filesystem::path> paths, const ImportOptions& options) {
  RunBuilder run{options.texts};
  RS_TRY(std::vector<TraceFile> files, load(paths, options, run));
  for (const TraceFile& file : files)
    if (!file.is_trace)
      return fail(ErrorKind::unreadable,
                  format("{} is JSON, but not a trace: it has no traceEvents", file.path.string()));
  std::vector<RankEvidence> evidence;
  for (const TraceFile& file : files) evidence.push_back(rank_evidence(file, run));
  RS_TRY(const std::vector<RankId> ranks, assign_ranks(evidence, options, run.quality()));
  std::vector<DescribedCollective> collectives;
  for (std::size_t i = 0; i < files.size(); ++i) {
    restore_spans(files[i], run);
    mark_cut_steps(files[i], run);
    describe_process(files[i], ranks[i], run);
    const auto calls = link_spans(files[i], run);
    if (files[i].metadata.own && files[i].metadata.own->rows)
      restore_rows(files[i], ranks[i], run);
    else
      std::ranges::copy(describe_collectives(files[i], ranks[i], calls, run), std::back_inserter(collectives));
    add_memory(files[i], run);
  }
  add_collectives(collectives, run);
  for (const TraceFile& file : files)
    for (const QualityPlace& block : file.metadata.dropped)
      run.info().places.push_back(
          {block.counter, block.amount, format("{}: {}", file.path.filename().string(), block.where)});
  note_jobs(files, run);
  align(files, run);
  if (run.quality().of(Counter::time_origin_unknown) == 0) mark_lost_tails(files, ranks, run);
  describe_run(files, ranks, run);
  for (const QualityPlace& loss : options.losses) add_loss(loss, run);
  for (std::size_t i = 0; i < files.size(); ++i)
    for (QualityPlace loss : files[i].losses) {
      loss.rank = ranks[i];
      run.info().places.push_back(std::move(loss));
    }
  restore_quality(files, run);
  return std::move(run).build().map_error(while_doing(
      paths.size() == 1 ? paths.front().string() : format("{} and {} more", paths.front().string(), paths.size() - 1)));
}

}  // namespace rankscope::analyzer::kineto
