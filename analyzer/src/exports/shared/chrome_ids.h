// Process and thread numbers of a Chrome trace. Real ones collide across hosts, so ranks and rows are numbered anew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// pid = rank + 1 for the process that stands for a rank; the others follow after the highest rank. Rows of process p
/// count from 1000 p, which keeps thread numbers distinct over the whole trace and easy to read.
class ChromeIds {
 public:
  explicit ChromeIds(const Run& run);

  [[nodiscard]] std::int64_t pid(std::uint32_t process) const { return pids_[process]; }
  [[nodiscard]] std::int64_t next_tid(std::uint32_t process);

 private:
  static constexpr std::int64_t rows_per_process = 1000;
  std::vector<std::int64_t> pids_;
  std::vector<std::int64_t> used_rows_;
  std::int64_t overflow_ = 0;  ///< next tid for processes with more rows
};

/// "rank 3 (host)"; for a further process of a rank also its program and real pid. Not escaped.
[[nodiscard]] std::string process_title(const Run& run, const Process& process);

}  // namespace rankscope::analyzer
