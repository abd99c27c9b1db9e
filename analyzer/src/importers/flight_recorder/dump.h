// What a dump of PyTorch's Flight Recorder holds (torch/csrc/distributed/c10d/FlightRecorder), versions 2.0 to 2.10.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "importers/shared/plain_values.h"

namespace rankscope::analyzer::flight_recorder {

/// One entry of the ring.
struct DumpEntry {
  std::int64_t pg_id = -1;  ///< number of the group on this rank only
  std::string_view group{};
  std::string_view description{};
  std::int64_t record_id = -1;
  std::int64_t collective_seq = -1;
  std::int64_t p2p_seq = -1;
  std::int64_t op_id = -1;     ///< also counts the calls within a coalesced group
  std::string_view backend{};  ///< "nccl", "gloo", "xccl"
  std::string_view op{};       ///< "all_reduce", "send", "coalesced"
  std::int64_t own = -1;       ///< of sends and receives: place of this rank in its group
  std::int64_t partner = -1;   ///< place of the other
  bool is_p2p = false;
  bool retired = false;  ///< the recorder no longer watches it
  bool finished = false;
  std::int64_t created_ns = 0;
  std::int64_t timeout_ms = 0;
  ValueRef input_sizes = PlainValues::none;
  ValueRef input_dtypes = PlainValues::none;
  ValueRef frames = PlainValues::none;
};

struct DumpGroup {
  std::string_view name{};
  std::string_view description{};
  std::string_view ranks{};  ///< "[0, 1]"
};

/// Last sequences of a group, which is named by `pg_id` only. Sends and receives count, too.
struct DumpStatus {
  std::int64_t pg_id = -1;
  std::int64_t enqueued = -1;
  std::int64_t completed = -1;
};

/// Views of the values and of the input.
struct Dump {
  std::string_view version{};
  std::optional<std::uint32_t> rank{};  ///< as the debug server adds it
  std::vector<DumpGroup> groups{};
  std::vector<DumpStatus> status{};
  std::vector<DumpEntry> entries{};  ///< in the order of the calls
};

/// `foreign` if the values are no dump, or of a newer major version; `refused` if they are more than any job has.
[[nodiscard]] tl::expected<Dump, Fault> dump_from(const PlainValues& values, ValueRef root);

/// True for backends whose operations run on the CPU, not on a device.
[[nodiscard]] bool runs_on_host(std::string_view backend);

/// The rank that the content of a dump can only belong to; nothing if there are several.
[[nodiscard]] std::optional<std::uint32_t> rank_by_content(const Dump& dump);

}  // namespace rankscope::analyzer::flight_recorder
