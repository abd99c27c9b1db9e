// Samples what the kernel knows about one process: CPU, memory, context switches, page faults, I/O and pressure.
// Files of /proc stay open and are read with pread; a sample allocates nothing once its
// values have room.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "rankscope/core/own_file.h"
#include "rankscope/core/process_stat.h"

namespace rankscope::collectors {

/// One value; names end in their unit where they have one. Counts are totals since the start of the process.
struct HostSample {
  std::string_view name;
  double value = 0;
};

/// An open file of /proc, or none.
class ProcFile {
 public:
  ProcFile() = default;
  explicit ProcFile(const char* path);

  /// The file's text in `buffer`; empty if it cannot be read (any more).
  [[nodiscard]] std::string_view read(std::span<char> buffer) const;
  [[nodiscard]] bool is_open() const { return file_.file() >= 0; }
  /// True if the program that we are in has closed it.
  [[nodiscard]] bool was_closed() const { return was_opened_ && file_.file() < 0; }

 private:
  OwnFile file_;
  bool was_opened_ = false;
};

enum class Pressure : std::uint8_t { skip, sample };  ///< pressure is of the whole host: one process per host is enough

/// Samples of one process: of the own one exactly (getrusage), of others from outside.
class HostSampler {
 public:
  static constexpr pid_t own_process = 0;

  HostSampler(pid_t process, Pressure pressure);
  /// Valid until the next call; empty once the process is gone. Rates are 0 in the first sample.
  [[nodiscard]] std::span<const HostSample> sample();
  /// What the kernel says of it now; nothing where that cannot be read. Opens the file again if the program closed it.
  [[nodiscard]] std::optional<ProcessStat> process();

 private:
  void add(std::string_view name, double value);
  void sample_own_usage(double seconds);
  void sample_other_usage(double seconds);
  void sample_memory();
  void sample_io();
  void sample_pressure(double seconds);
  double cpu_percent(double cpu_seconds, double seconds);

  pid_t process_;
  ProcFile stat_;
  ProcFile statm_;
  ProcFile io_;
  std::array<ProcFile, 3> pressure_;
  std::array<double, 3> stalled_us_{};
  double last_time_ = 0;
  double last_cpu_ = -1;
  std::vector<HostSample> samples_{};
};

}  // namespace rankscope::collectors
