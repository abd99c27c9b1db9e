#include "process_ends.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "rankscope/core/format.h"
#include "rankscope/core/process_stat.h"
#include "watcher.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

namespace rankscope::collectors {
namespace {

constexpr int period_ms = 100;
constexpr std::int64_t seen_twice_ns = 10'000'000'000;  // no number of a process comes again that fast

/// struct pidfd_info of linux/pidfd.h (Linux 6.13), whose exit code is there since 6.15.
struct PidfdInfo {
  std::uint64_t mask = 0;
  std::uint64_t cgroup = 0;
  std::uint32_t ids[11] = {};
  std::int32_t exit_code = 0;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr std::uint64_t info_exit = 1U << 3U;

/// Of a process that was reaped already.
std::optional<int> status_after_reaping(int descriptor) {
  PidfdInfo info;
  info.mask = info_exit;
  if (ioctl(descriptor, _IOWR(0xFF, 11, PidfdInfo), &info) != 0 || (info.mask & info_exit) == 0) return std::nullopt;
  return info.exit_code;
}

/// Of one that waits for its parent, which may reap it at any moment.
std::optional<int> status_of_ended(pid_t pid, int descriptor) {
  const auto stat = process_stat(pid);
  if (stat && stat->state == 'Z') return stat->wait_status;
  return status_after_reaping(descriptor);
}

std::int64_t now_unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

EndWatch::EndWatch() : thread_([this](const std::stop_token& stop) { watch(stop); }) {}

EndWatch::~EndWatch() {
  stop();
  for (const auto& [key, descriptor] : descriptors_) close(descriptor);
}

void EndWatch::stop() {
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
}

void EndWatch::find_processes() {
  for (const pid_t process : descendants_of(getpid())) {
    if (descriptors_.size() >= most_watched) return;
    const ProcessKey key{process, start_of(process)};
    if (key.start == 0 || descriptors_.contains(key)) continue;
    const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
    if (descriptor >= 0) descriptors_.emplace(key, descriptor);  // else it has ended, or the kernel is too old
  }
}

void EndWatch::note_end(pid_t pid, int descriptor) {
  const auto status = status_of_ended(pid, descriptor);
  if (status) add({pid, *status, now_unix_ns()});
}

void EndWatch::note_reaped(pid_t pid, int wait_status) { add({pid, wait_status, now_unix_ns()}); }

void EndWatch::add(const BadEnd& end) {
  if (end.wait_status == 0) return;
  const std::scoped_lock lock{mutex_};
  // The watch and whoever reaps may both see the same end.
  const bool known = std::ranges::any_of(ends_, [&end](const BadEnd& other) {
    return other.pid == end.pid && other.wait_status == end.wait_status &&
           end.at_unix_ns - other.at_unix_ns < seen_twice_ns;
  });
  if (!known && ends_.size() < most_ends) ends_.push_back(end);
}

void EndWatch::watch(const std::stop_token& stop) {
  while (!stop.stop_requested()) look(period_ms);
  look(0);  // those that ended meanwhile
}

void EndWatch::look(int wait_ms) {
  find_processes();
  std::vector<pollfd> polled;
  std::vector<ProcessKey> keys;
  for (const auto& [key, descriptor] : descriptors_) {
    polled.push_back({descriptor, POLLIN, 0});
    keys.push_back(key);
  }
  if (poll(polled.data(), polled.size(), wait_ms) <= 0) return;
  for (std::size_t i = 0; i < polled.size(); ++i) {
    if (polled[i].revents == 0) continue;
    note_end(keys[i].pid, polled[i].fd);
    close(polled[i].fd);
    descriptors_.erase(keys[i]);
  }
}

std::string EndWatch::text() const {
  const std::string host = host_name();
  const std::scoped_lock lock{mutex_};
  std::string text;
  for (const BadEnd& end : ends_)
    text += format("{}{} {} {} {}", text.empty() ? "" : ";", host, end.pid, end.wait_status, end.at_unix_ns);
  return text;
}

}  // namespace rankscope::collectors
