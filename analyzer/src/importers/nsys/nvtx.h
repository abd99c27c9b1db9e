// NVTX: ranges and marks of programs and libraries. NCCL's own ranges and those that PyTorch puts around its
// collectives are also kept apart, by thread: they tell what a communication kernel was.
#pragma once

#include <unordered_map>
#include <vector>

#include "importers/nsys/payload.h"
#include "importers/nsys/timeline.h"

namespace rankscope::analyzer::nsys {

enum class CallRole : std::uint8_t { group_start, group_end, operation };

/// One range of NCCL's domain that matters for collectives.
struct NcclCall {
  TimeRange time{};
  CallRole role = CallRole::operation;
  std::string_view op{};  ///< "allreduce"; of a static table
  NcclPayload payload{};
};

/// PyTorch's "nccl:all_to_all" around the calls.
struct FrameworkCall {
  TimeRange time{};
  std::string_view op{};  ///< of a static table
  std::optional<std::int64_t> peer{};
};

/// Both kinds of one thread, by begin.
struct ThreadCalls {
  std::vector<NcclCall> nccl{};
  std::vector<FrameworkCall> framework{};
};
using CallsByThread = std::unordered_map<std::int64_t, ThreadCalls>;

/// What a process said about a communicator when it joined.
struct Joined {
  ProcessKey process{};
  std::uint64_t communicator = 0;
  std::int64_t ranks = 0;
  std::int64_t rank = 0;
};
[[nodiscard]] Result<std::vector<Joined>> read_communicators(const Database& database, const PayloadSchemas& schemas);

[[nodiscard]] Result<CallsByThread> read_nvtx(const Database& database, Timeline& timeline,
                                              const PayloadSchemas& schemas);

/// How to export the report again so that payloads are in it; empty if they are, or if NCCL said nothing.
[[nodiscard]] std::string export_with_payloads(const Database& database, const PayloadSchemas& schemas);

}  // namespace rankscope::analyzer::nsys
