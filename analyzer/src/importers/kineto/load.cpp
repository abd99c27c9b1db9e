#include "importers/kineto/load.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "importers/kineto/input.h"
#include "importers/kineto/trace_reader.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer::kineto {
namespace {

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
  std::unique_ptr<Part> part = std::make_unique<Part>();
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

Outcome read_plain(const Task& task, std::string_view text) {
  Outcome outcome;
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

Outcome read_packed(std::string_view packed, const std::atomic<bool>& stop) {
  Outcome outcome;
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
  Crew(std::span<const MappedText> files, std::vector<Task> tasks, unsigned threads)
      : files_(files), tasks_(std::move(tasks)), outcomes_(tasks_.size()), most_waiting_(2 * threads) {
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
      Outcome outcome =
          files_[tasks_[mine].file].is_packed() ? read_packed(text, stop_) : read_plain(tasks_[mine], text);
      const std::lock_guard lock{mutex_};
      outcomes_[mine] = std::move(outcome);
      changed_.notify_all();
    }
  }

  std::span<const MappedText> files_;
  std::vector<Task> tasks_;
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

}  // namespace

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
  Crew crew{texts, plan(texts), threads};
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

}  // namespace rankscope::analyzer::kineto
