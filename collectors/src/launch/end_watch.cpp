#include "launch/end_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "rankscope/core/process_stat.h"
#include "rankscope/core/recording/manifest.h"

namespace rankscope::collectors {
namespace {

constexpr int look_every_ms = 100;
constexpr std::size_t most_collected = 4096;
constexpr std::int64_t seen_twice_ns = 10'000'000'000;  // no pid comes again that fast

/// glibc 2.36 has a function for it; kernels before 5.3 refuse.
int open_process(pid_t process) { return static_cast<int>(syscall(SYS_pidfd_open, process, 0)); }

/// How long a process has lived.
nanoseconds age_of(const ProcessKey& process) {
  static const std::int64_t tick_ns = 1'000'000'000 / std::max(1L, sysconf(_SC_CLK_TCK));
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  const std::int64_t now_ns = std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  return nanoseconds{std::max<std::int64_t>(0, now_ns - static_cast<std::int64_t>(process.start) * tick_ns)};
}

std::int64_t now_unix_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::nanoseconds{now}.count();
}

/// struct pidfd_info of linux/pidfd.h (Linux 6.13), whose exit code is there since 6.15.
struct PidfdInfo {
  std::uint64_t mask = 0;
  std::uint64_t cgroup = 0;
  std::uint32_t ids[11] = {};
  std::int32_t exit_code = 0;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr std::uint64_t info_exit = 1U << 3U;

/// Of a process that its parent has collected already; 0 from older kernels.
int status_after_collection(int file) {
  PidfdInfo info;
  info.mask = info_exit;
  if (ioctl(file, _IOWR(0xFF, 11, PidfdInfo), &info) != 0 || (info.mask & info_exit) == 0) return 0;
  return info.exit_code;
}

ProcessEnd end_of(const ProcessKey& process, int file) {
  const auto stat = process_stat(process.pid);
  const bool same = stat && stat->start_ticks_of_boot == process.start;
  const int status = same ? stat->wait_status : 0;
  return {.process = process,
          .wait_status = status != 0 ? status : status_after_collection(file),
          .unix_ns = now_unix_ns(),
          .lived = age_of(process)};
}

}  // namespace

EndWatch::EndWatch(std::filesystem::path spool)
    : spool_(std::move(spool)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

EndWatch::~EndWatch() {
  static_cast<void>(finish());
  for (const Running& running : running_) close(running.file);
  if (wake_ >= 0) close(wake_);
}

std::vector<ProcessEnd> EndWatch::finish() {
  if (thread_.joinable()) {
    thread_.request_stop();
    const std::uint64_t one = 1;
    static_cast<void>(write(wake_, &one, sizeof one) == 0);  // without it the thread stops a little later
    thread_.join();
    look_for_new();
    wait_and_note(0);
    add_collected();
  }
  return ends_;
}

void EndWatch::note_collected(pid_t process, int wait_status) {
  const std::scoped_lock lock{mutex_};
  if (collected_.size() < most_collected) collected_.push_back({process, wait_status, now_unix_ns()});
}

/// A process that ended before it was watched is known by the name of its segment.
void EndWatch::add_collected() {
  std::vector<ProcessKey> left;
  for (const std::string& name : seen_)
    if (const auto process = process_of_segment(name)) left.push_back(*process);
  const std::scoped_lock lock{mutex_};
  for (const Collected& one : collected_) {
    const auto known = std::ranges::find_if(ends_, [&one](const ProcessEnd& end) {
      return end.process.pid == one.process && std::abs(end.unix_ns - one.unix_ns) < seen_twice_ns;
    });
    if (known != ends_.end()) {
      known->wait_status = one.wait_status;
      continue;
    }
    const auto segment = std::ranges::find(left, one.process, &ProcessKey::pid);
    if (segment == left.end()) continue;
    const nanoseconds after_end{now_unix_ns() - one.unix_ns};
    ends_.push_back({.process = *segment,
                     .wait_status = one.wait_status,
                     .unix_ns = one.unix_ns,
                     .lived = std::max(nanoseconds{0}, age_of(*segment) - after_end)});
  }
  std::ranges::stable_sort(ends_, {}, &ProcessEnd::unix_ns);
}

void EndWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    look_for_new();
    wait_and_note(look_every_ms);
  }
}

void EndWatch::look_for_new() {
  std::vector<std::string> found;
  for (const std::filesystem::path& folder : {spool_, spool_ / recording::outside_folder})
    for_each_new_file(folder, seen_, [&found](std::string_view name) { found.emplace_back(name); });
  for (std::string& name : found) {
    watch(name);
    seen_.insert(std::move(name));
  }
}

/// A pid may mean another process by now: its start is compared after it was opened.
void EndWatch::watch(std::string_view segment) {
  const auto process = process_of_segment(segment);
  if (!process || !segment.ends_with(recording::segment_suffix) || running_.size() >= most_processes) return;
  const auto is_same = [&process](const auto& one) { return one.process == *process; };
  if (std::ranges::any_of(running_, is_same) || std::ranges::any_of(ends_, is_same)) return;
  const int file = open_process(process->pid);
  if (file < 0) return;
  if (start_of(process->pid) == process->start)
    running_.push_back({*process, file});
  else
    close(file);
}

void EndWatch::wait_and_note(int milliseconds) {
  std::vector<pollfd> files;
  for (const Running& running : running_) files.push_back({.fd = running.file, .events = POLLIN, .revents = 0});
  files.push_back({.fd = wake_, .events = POLLIN, .revents = 0});
  if (poll(files.data(), files.size(), milliseconds) <= 0) return;
  for (std::size_t i = 0; i < running_.size(); ++i)
    if (files[i].revents != 0) ends_.push_back(end_of(running_[i].process, running_[i].file));
  for (std::size_t i = running_.size(); i-- > 0;) {
    if (files[i].revents == 0) continue;
    close(running_[i].file);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace rankscope::collectors
