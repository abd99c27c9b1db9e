#include "split/device_record.h"

#include <algorithm>

#include "rankscope/analyzer/split/activity.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

/// Devices that are listed for a rank of which no device activity was recorded.
std::int64_t unrecorded_devices(const Run& run, RankId rank) {
  const std::int64_t listed = std::ranges::count(run.devices(), run.process_row_of(rank), &Device::process);
  if (listed == 0 || run.has_accelerator(rank)) return 0;
  const auto own = std::ranges::equal_range(run.collectives(), rank, {}, &Collective::rank);
  const bool on_host = std::ranges::any_of(
      own, [&](const Collective& row) { return row.lane.is_set() && run.lane(row.lane).kind != LaneKind::stream; });
  return on_host ? 0 : listed;
}

}  // namespace

std::string why_no_device_activity(const Run& run) {
  for (const RankId rank : run.ranks()) {
    if (const std::string_view called = run.metadata(run.process_of(rank), keys::devices_not_read);
        !called.empty() && !run.has_accelerator(rank))
      return format(
          "the program uses a device ({}) whose work is not in the trace, or not in a form that rankscope reads",
          called);
    const std::int64_t devices = unrecorded_devices(run, rank);
    if (devices == 0) continue;
    const std::string of_rank = run.ranks().size() > 1 ? format(" of rank {}", rank.value) : std::string{};
    return format("device activity{} was not recorded: the trace lists {} but contains no kernels", of_rank,
                  counted(devices, "GPU"));
  }
  return {};
}

std::string why_no_device_work(const Run& run) {
  std::string why = why_no_device_activity(run);
  return why.empty() ? std::string{no_accelerator} : why;
}

}  // namespace rankscope::analyzer
