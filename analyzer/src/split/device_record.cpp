#include "split/device_record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "rankscope/analyzer/split/activity.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t most_devices = 1'000'000;  // more are a damaged number

bool communicates_on_host(const Run& run, RankId rank) {
  const auto own = std::ranges::equal_range(run.collectives(), rank, {}, &Collective::rank);
  return std::ranges::any_of(
      own, [&](const Collective& row) { return row.lane.is_set() && run.lane(row.lane).kind != LaneKind::stream; });
}

/// A call that puts work on a device: a launch or a copy by a runtime, or a collective of a library that runs there.
bool is_for_device(const Run& run, const Span& span) {
  static constexpr std::array libraries{std::string_view{"nccl:"}, std::string_view{"xccl:"},
                                        std::string_view{"hccl:"}};
  static constexpr std::array calls{std::string_view{"Launch"}, std::string_view{"Memcpy"}, std::string_view{"Memset"}};
  const std::string_view name = span.name.is_set() ? run.text(span.name) : std::string_view{};
  if (span.kind == SpanKind::runtime)
    return std::ranges::any_of(calls, [name](std::string_view call) { return name.find(call) != name.npos; });
  return std::ranges::any_of(libraries, [name](std::string_view library) { return name.starts_with(library); });
}

bool uses_devices(const Run& run, RankId rank) {
  const std::uint32_t process = run.process_row_of(rank);
  return std::ranges::any_of(run.lanes(), [&](const Lane& lane) {
    return lane.process == process &&
           std::ranges::any_of(run.spans_of(lane), [&run](const Span& span) { return is_for_device(run, span); });
  });
}

/// Devices that are listed for a rank of which no device activity was recorded. One that communicates on the host uses
/// none of them, unless its calls show that it does.
std::int64_t unrecorded_devices(const Run& run, RankId rank) {
  const std::int64_t listed = std::ranges::count(run.devices(), run.process_row_of(rank), &Device::process);
  if (listed == 0 || run.has_accelerator(rank)) return 0;
  return communicates_on_host(run, rank) && !uses_devices(run, rank) ? 0 : listed;
}

}  // namespace

DeviceRecordPart local_device_record(const Run& run, RankId rank) {
  DeviceRecordPart part;
  part.has_accelerator = run.has_accelerator(rank);
  part.not_read = run.metadata(run.process_of(rank), keys::devices_not_read);
  part.unrecorded = unrecorded_devices(run, rank);
  return part;
}

void write_part(digest::PartWriter& out, const DeviceRecordPart& part) {
  out.number(part.has_accelerator ? 1 : 0);
  out.text(part.not_read);
  out.signed_number(part.unrecorded);
}

DeviceRecordPart read_device_record_part(digest::PartReader& in) {
  DeviceRecordPart part;
  part.has_accelerator = in.number_to(1) == 1;
  part.not_read = in.text();
  part.unrecorded = in.signed_between(0, most_devices);
  return part;
}

std::string why_no_device_activity(const DeviceRecordPart& part, RankId rank, std::size_t ranks) {
  if (!part.not_read.empty() && !part.has_accelerator)
    return format(
        "the program uses a device ({}) whose work is not in the trace, or not in a form that rankscope reads",
        part.not_read);
  if (part.unrecorded == 0) return {};
  const std::string of_rank = ranks > 1 ? format(" of rank {}", rank.value) : std::string{};
  return format("device activity{} was not recorded: the trace lists {} but contains no kernels", of_rank,
                counted(part.unrecorded, "GPU"));
}

std::string why_no_device_activity(const Run& run) {
  for (const RankId rank : run.ranks())
    if (std::string why = why_no_device_activity(local_device_record(run, rank), rank, run.ranks().size());
        !why.empty())
      return why;
  return {};
}

tl::unexpected<Unavailable> no_device_work(const Run& run) { return no_device_work(why_no_device_activity(run)); }

tl::unexpected<Unavailable> no_device_work(std::string why_no_device_activity) {
  if (!why_no_device_activity.empty()) return unavailable(std::move(why_no_device_activity));
  return unavailable(std::string{no_accelerator}, Missed::no);
}

}  // namespace rankscope::analyzer
