// Ranks of which only the host was recorded although they have devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "rankscope/analyzer/section.h"
#include "rankscope/core/digest/part_bytes.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// The local half: what was recorded of the accelerators of one rank.
struct DeviceRecordPart {
  bool has_accelerator = false;  ///< something ran on a stream
  std::string not_read;          ///< the device that the program calls, whose work nothing reads; empty: none
  std::int64_t unrecorded = 0;   ///< devices that are listed although nothing that ran on them was recorded
  bool operator==(const DeviceRecordPart&) const = default;
};
[[nodiscard]] DeviceRecordPart local_device_record(const Run& run, RankId rank);
void write_part(digest::PartWriter& out, const DeviceRecordPart& part);
/// Where the reader has failed, the part means nothing.
[[nodiscard]] DeviceRecordPart read_device_record_part(digest::PartReader& in);

/// Why the time of the rank cannot be told, in a run of so many ranks; empty if it can.
[[nodiscard]] std::string why_no_device_activity(const DeviceRecordPart& part, RankId rank, std::size_t ranks);

/// Why the time of the ranks cannot be told: "device activity was not recorded: the trace lists 8 GPUs but has no
/// kernel"; empty where that is so of no rank. It is so of a rank for which devices are listed but nothing that ran on
/// them is: what its host did tells neither compute nor idle time (metrics.md 0). A collective on a host thread (Gloo)
/// shows that the rank works on the CPU, whatever devices the machine has.
[[nodiscard]] std::string why_no_device_activity(const Run& run);

/// The same, or that no rank has an accelerator; for sections on the work of accelerators in runs without any.
[[nodiscard]] tl::unexpected<Unavailable> no_device_work(const Run& run);
[[nodiscard]] tl::unexpected<Unavailable> no_device_work(std::string why_no_device_activity);

}  // namespace rankscope::analyzer
