// What each communication kernel was, as far as its own process tells.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "importers/nsys/collectives.h"

namespace rankscope::analyzer::nsys {

/// One collective or send/receive of one rank, before its group is known.
struct CommRow {
  RankId rank{};
  const CommKernel* kernel = nullptr;
  std::string_view op{};  ///< of a static table
  std::string_view dtype{};
  std::int64_t bytes = -1;
  std::int64_t peer = -1;  ///< number inside the communicator
  std::optional<std::uint64_t> communicator{};
  bool owns_span = true;  ///< several sends and receives can share one kernel: the first has the span

  // Found later, by looking at all ranks:
  GroupId group{};
  std::int64_t sequence = -1;
  [[nodiscard]] RunTime started() const { return kernel->time.begin; }
};

inline bool is_pair(std::string_view op) { return op == "send" || op == "recv"; }

/// Rows of all kernels of a file, by start.
[[nodiscard]] std::vector<CommRow> rows_of(const RunBuilder& builder, const FileCommunication& file);

}  // namespace rankscope::analyzer::nsys
