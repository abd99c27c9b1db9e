#include "hang_watch.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "gather.h"
#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "spool/segment_names.h"
#include "talk.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;
constexpr const char* hang_folder = "hang";
constexpr const char* turn_file = "speaks";
constexpr std::chrono::milliseconds shortest_period{200};
constexpr std::chrono::milliseconds longest_period{2000};

bool is_installed(std::string_view program) {
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
    if (!folder.empty() && access((std::string{folder} + "/" + std::string{program}).c_str(), X_OK) == 0) return true;
  }
  return false;
}

/// Writes the stacks of some processes into files of the folder; what it starts, or why nothing, for the user.
std::string start_stack_dumps(const std::vector<HungProcess>& processes, const fs::path& folder,
                              OwnCommands& commands) {
  if (processes.empty())
    return "rankscope: the stacks of the stuck ranks were not written, because none of them runs on this host\n";
  const bool py_spy = is_installed("py-spy");
  if (!py_spy && !is_installed("gdb"))
    return "rankscope: the stacks of the stuck ranks were not written, because neither py-spy nor gdb is installed\n";
  for (const HungProcess& process : processes) {
    const std::string file = (folder / format("rank-{}-stacks.txt", process.rank)).string();
    const std::string command =
        py_spy ? R"(timeout -s INT -k 10 30 py-spy dump --native --pid "$1" > "$2" 2>&1 || )"
                 R"(timeout -s INT -k 10 30 py-spy dump --pid "$1" > "$2" 2>&1)"
               : R"(timeout -s INT -k 10 60 gdb -p "$1" -batch -ex "thread apply all backtrace" > "$2" 2>&1)";
    if (!commands.start(command, {std::to_string(process.pid), file}, {}))
      return "rankscope: the stacks of the stuck ranks were not written, because no shell could be started\n";
  }
  return format("rankscope: {} writes the stacks of the stuck ranks to {}\n", py_spy ? "py-spy" : "gdb",
                folder.string());
}

}  // namespace

bool take_turn(const fs::path& path) {
  const std::string own = segment_stem(getpid()) + recording::segment_suffix;
  for (int attempt = 0; attempt < 2; ++attempt) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (file >= 0) {
      const bool written = write(file, own.data(), own.size()) == static_cast<ssize_t>(own.size());
      close(file);
      if (!written) unlink(path.c_str());  // nobody could tell whose turn it is
      return true;
    }
    if (errno != EEXIST) return true;  // better twice than never
    std::string name;
    std::getline(std::ifstream{path}, name);
    if (name == own) return true;
    const auto speaker = process_of_segment(name);
    const bool gone = speaker && (start_of(speaker->pid) != speaker->start || has_ended(speaker->pid));
    if (!gone || unlink(path.c_str()) != 0) return false;
  }
  return false;
}

Whereabouts whereabouts_of(std::int64_t pid, const fs::path& spool) {
  bool was_here = false;
  for (const fs::path& folder : {spool, spool / recording::outside_folder}) {
    std::error_code error;
    for (fs::directory_iterator entry{folder, error}, end; !error && entry != end; entry.increment(error)) {
      const auto process = process_of_segment(entry->path().filename().string());
      if (!process || process->pid != pid) continue;
      was_here = true;
      if (start_of(process->pid) == process->start && !has_ended(process->pid)) return Whereabouts::here;
    }
  }
  return was_here ? Whereabouts::gone : Whereabouts::unknown;
}

bool StandstillClock::stands_still(const recording::LiveView& view, Time now) {
  std::vector<std::uint64_t> moves;
  bool any_rank = false;
  bool any_step = false;
  for (const recording::LiveProcess& process : view.processes) {
    if (process.rank < 0 || process.watched) continue;
    any_rank = any_rank || !process.ended;
    any_step = any_step || process.steps > 0;
    moves.push_back(static_cast<std::uint64_t>(process.pid));
    // Samples of the code are marks, and go on in a process that is stuck.
    moves.push_back(process.events - std::min(process.events, process.marks));
    moves.push_back(process.ended ? 1 : 0);
    moves.push_back(process.dropped);  // it works, but the ring is full
  }
  if (!any_rank || view.behind_bytes > 0 || view.left_out > 0 || moves != seen_ || !since_) {
    seen_ = std::move(moves);
    since_ = now;
    told_ = false;
    return false;
  }
  const auto patience = any_step ? patience_ : std::max<std::chrono::nanoseconds>(patience_, patience_at_start);
  if (told_ || now - *since_ < patience) return false;
  told_ = true;
  return true;
}

HangWatch::HangWatch(const RecordOptions& options, fs::path out, fs::path spool, std::function<bool()> records_now,
                     OwnCommands& commands)
    : options_(options),
      out_(std::move(out)),
      spool_(std::move(spool)),
      records_now_(std::move(records_now)),
      commands_(commands),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

HangWatch::~HangWatch() { stop(); }

void HangWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  if (std::exchange(speaks_, false)) unlink((out_ / hang_folder / turn_file).c_str());
}

HangWatch::Metadata HangWatch::metadata() const {
  const std::scoped_lock lock{mutex_};
  return metadata_;
}

void HangWatch::watch(const std::stop_token& stop) {
  const auto patience =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options_.hang_after_s));
  const auto period = std::clamp<std::chrono::nanoseconds>(patience / 5, shortest_period, longest_period);
  recording::LiveReader reader{out_, {.steps = 1, .values = 2, .stretches = 1024, .segments = most_followed}};
  StandstillClock clock{patience};
  std::mutex sleeping;
  std::condition_variable_any wake;
  std::unique_lock lock{sleeping};
  while (!wake.wait_for(lock, stop, period, [&stop] { return stop.stop_requested(); })) look(reader, clock);
}

void HangWatch::look(recording::LiveReader& reader, StandstillClock& clock) {
  if (!records_now_()) return clock.forget();
  recording::LiveView view = reader.poll();
  mark_gone(view);
  if (view.left_out > 0 && !std::exchange(said_left_out_, true))
    say(options_.talk, format("rankscope: --hang-after detects no hang while more than {} processes are recorded "
                              "at once, because it cannot follow more\n",
                              most_followed));
  if (clock.stands_still(view, std::chrono::steady_clock::now()) && !report()) clock.forget();
}

/// A process that was killed never says that it ended.
void HangWatch::mark_gone(recording::LiveView& view) const {
  for (recording::LiveProcess& process : view.processes)
    if (process.rank >= 0 && !process.ended) process.ended = whereabouts_of(process.pid, spool_) == Whereabouts::gone;
}

bool HangWatch::report() {
  const HangSeen seen = options_.judge_hang(out_);
  if (!seen.stuck) {
    if (options_.talk == Talk::verbose)
      say(options_.talk, format("rankscope: no rank has recorded anything for {} s, but no rank waits for another\n",
                                options_.hang_after_s));
    return false;
  }
  const fs::path folder = out_ / hang_folder;
  std::error_code error;
  fs::create_directory(folder, error);
  // Of several recorders of a job, as srun starts them, one speaks; each reads the stacks of its own processes.
  speaks_ = take_turn(folder / turn_file);
  if (speaks_) tell(seen, folder);
  std::vector<HungProcess> here = seen.processes;
  std::erase_if(here, [this](const HungProcess& process) {
    return process.host != host_name() || whereabouts_of(process.pid, spool_) != Whereabouts::here;
  });
  if (!seen.processes.empty() && (speaks_ || !here.empty()))
    say(options_.talk, start_stack_dumps(here, folder, commands_));
  if (!speaks_ || options_.on_hang.empty()) return true;
  if (!commands_.start(options_.on_hang, {}, options_.rank_env))
    say(options_.talk, "rankscope: the command of --on-hang could not be started\n");
  return true;
}

void HangWatch::tell(const HangSeen& seen, const fs::path& folder) {
  say(options_.talk, format("rankscope: no rank has recorded anything for {} s; the job may have hung\n{}",
                            options_.hang_after_s, seen.text));
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  {
    const std::scoped_lock lock{mutex_};
    metadata_ = {
        {"hang_seen", seen.headline},
        {"hang_seen_at_unix_ns", std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count())}};
  }
  const fs::path unfinished = folder / "verdict.txt.part";
  std::ofstream file{unfinished};
  file << seen.text;
  file.close();
  std::error_code error;
  if (file) fs::rename(unfinished, folder / "verdict.txt", error);
  if (error || !file)
    say(options_.talk, format("rankscope: cannot write the verdict to {}\n", (folder / "verdict.txt").string()));
}

}  // namespace rankscope::collectors
