#include "launch/end_watch.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "rankscope/core/process_stat.h"
#include "rankscope/core/recording/manifest.h"

namespace rankscope::collectors {
namespace {

constexpr int look_every_ms = 100;

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

ProcessEnd end_of(const ProcessKey& process) {
  const auto stat = process_stat(process.pid);
  const bool same = stat && stat->start_ticks_of_boot == process.start;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return {.process = process,
          .wait_status = same ? stat->wait_status : 0,
          .unix_ns = std::chrono::nanoseconds{now}.count(),
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
    wait_and_note(0);
  }
  return ends_;
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
    if (files[i].revents != 0) ends_.push_back(end_of(running_[i].process));
  for (std::size_t i = running_.size(); i-- > 0;) {
    if (files[i].revents == 0) continue;
    close(running_[i].file);
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace rankscope::collectors
