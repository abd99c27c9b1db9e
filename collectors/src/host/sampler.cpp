#include "host/sampler.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

#include "rankscope/core/numbers.h"

namespace rankscope::collectors {
namespace {

double monotonic_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

double number_at(std::string_view text) { return static_cast<double>(leading_number<std::uint64_t>(text).value_or(0)); }

/// The number after `key` ("rchar: ", "total="), or -1.
double number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  return at == text.npos ? -1 : number_at(text.substr(at + key.size()));
}

/// The n-th word, counted from 0.
std::string_view word(std::string_view text, int n) {
  for (; n > 0; --n) {
    const std::size_t space = text.find(' ');
    if (space == text.npos) return {};
    text.remove_prefix(space + 1);
  }
  return text.substr(0, text.find(' '));
}

ProcFile open_of(pid_t process, const char* name) {
  std::array<char, 64> path{};
  if (process == HostSampler::own_process) {
    std::snprintf(path.data(), path.size(), "/proc/self/%s", name);
  } else {
    std::snprintf(path.data(), path.size(), "/proc/%d/%s", static_cast<int>(process), name);
  }
  return ProcFile{path.data()};
}

constexpr std::array pressure_files{"/proc/pressure/cpu", "/proc/pressure/memory", "/proc/pressure/io"};
constexpr std::array<std::string_view, 3> pressure_names{"pressure_cpu_percent", "pressure_memory_percent",
                                                         "pressure_io_percent"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> io_fields{{
    {"rchar: ", "read_bytes"},  // what read() returned, page cache included
    {"wchar: ", "written_bytes"},
    {"read_bytes: ", "disk_read_bytes"},  // what storage was asked for
    {"write_bytes: ", "disk_written_bytes"},
}};

}  // namespace

ProcFile::ProcFile(const char* path) : file_(open(path, O_RDONLY | O_CLOEXEC)), was_opened_(file_.file() >= 0) {}

std::string_view ProcFile::read(std::span<char> buffer) const {
  const int file = file_.file();
  if (file < 0) return {};
  const ssize_t size = pread(file, buffer.data(), buffer.size(), 0);
  return size <= 0 ? std::string_view{} : std::string_view{buffer.data(), static_cast<std::size_t>(size)};
}

HostSampler::HostSampler(pid_t process, Pressure pressure)
    : process_(process),
      stat_(open_of(process, "stat")),
      statm_(open_of(process, "statm")),
      io_(open_of(process, "io")) {
  if (pressure == Pressure::skip) return;
  for (std::size_t i = 0; i < pressure_.size(); ++i) pressure_[i] = ProcFile{pressure_files[i]};
}

std::span<const HostSample> HostSampler::sample() {
  samples_.clear();
  const double now = monotonic_seconds();
  const double seconds = last_time_ > 0 ? now - last_time_ : 0;
  last_time_ = now;
  if (process_ == own_process) {
    sample_own_usage(seconds);
  } else {
    sample_other_usage(seconds);
    if (samples_.empty()) return {};
  }
  sample_memory();
  sample_io();
  sample_pressure(seconds);
  return samples_;
}

std::optional<ProcessStat> HostSampler::process() {
  if (stat_.was_closed()) {
    if (ProcFile again = open_of(process_, "stat"); again.is_open()) stat_ = std::move(again);
  }
  std::array<char, 1024> buffer;
  return parse_process_stat(stat_.read(buffer));
}

void HostSampler::add(std::string_view name, double value) { samples_.push_back({name, value}); }

double HostSampler::cpu_percent(double cpu_seconds, double seconds) {
  const double used = last_cpu_ >= 0 ? cpu_seconds - last_cpu_ : 0;
  last_cpu_ = cpu_seconds;
  return seconds > 0 ? 100 * used / seconds : 0;
}

void HostSampler::sample_own_usage(double seconds) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  add("cpu_percent", cpu_percent(seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), seconds));
  add("context_switches_voluntary", static_cast<double>(usage.ru_nvcsw));
  add("context_switches_involuntary", static_cast<double>(usage.ru_nivcsw));
  add("page_faults_minor", static_cast<double>(usage.ru_minflt));
  add("page_faults_major", static_cast<double>(usage.ru_majflt));
}

void HostSampler::sample_other_usage(double seconds) {
  std::array<char, 1024> buffer;
  std::string_view text = stat_.read(buffer);
  const std::size_t name_end = text.rfind(')');  // the name may hold spaces and brackets
  if (name_end == text.npos || name_end + 2 >= text.size()) return;
  text.remove_prefix(name_end + 2);  // now word 0 is field 3, the state
  if (text.front() == 'Z' || text.front() == 'X') return;
  static const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  add("cpu_percent", cpu_percent((number_at(word(text, 11)) + number_at(word(text, 12))) / ticks, seconds));
  add("page_faults_minor", number_at(word(text, 7)));
  add("page_faults_major", number_at(word(text, 9)));
}

void HostSampler::sample_memory() {
  std::array<char, 128> buffer;
  const std::string_view text = statm_.read(buffer);
  if (text.empty()) return;
  static const double page = static_cast<double>(sysconf(_SC_PAGESIZE));
  // With shared pages, also those of the recorder's ring; what it has written is unmapped and not among them.
  add("rss_bytes", number_at(word(text, 1)) * page);
}

void HostSampler::sample_io() {
  std::array<char, 512> buffer;
  const std::string_view text = io_.read(buffer);
  for (const auto& [key, name] : io_fields) {
    // "read_bytes: " must not be found inside "cancelled_write_bytes: ": all keys are looked up at a line's start.
    std::size_t at = text.find(key);
    while (at != text.npos && at != 0 && text[at - 1] != '\n') at = text.find(key, at + 1);
    if (at != text.npos) add(name, number_at(text.substr(at + key.size())));
  }
}

void HostSampler::sample_pressure(double seconds) {
  std::array<char, 256> buffer;
  for (std::size_t i = 0; i < pressure_.size(); ++i) {
    const double stalled = number_after(pressure_[i].read(buffer), "total=");  // the first line is "some"
    if (stalled < 0) continue;
    if (seconds > 0) add(pressure_names[i], 100 * (stalled - stalled_us_[i]) * 1e-6 / seconds);
    stalled_us_[i] = stalled;
  }
}

}  // namespace rankscope::collectors
