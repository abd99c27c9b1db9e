#include "split/idle_parts.h"

#include <algorithm>
#include <array>

namespace rankscope::analyzer {
namespace {

struct PartWords {
  IdlePart part;
  std::string_view lost_to;
  std::string_view why_no_gain;
};

constexpr std::array part_words{
    PartWords{IdlePart::late_launch, "because the host launched late", ""},
    PartWords{IdlePart::sync, "in synchronizations", ""},
    PartWords{IdlePart::short_gaps, "in short gaps (≤ 10 µs)", ""},
    PartWords{IdlePart::outside_spans, "during which the host ran nothing that was recorded", ""},
    PartWords{IdlePart::other_stream, "because streams waited for each other", ""},
    PartWords{IdlePart::inside_graph, "in gaps inside graphs", ""},
    PartWords{IdlePart::profiler, "because the profiler held the host up", "the profiler itself takes this time"},
    PartWords{IdlePart::nothing_launched, "in which nothing more was launched",
              "nothing was launched that could have run in this time"},
    PartWords{IdlePart::no_launch_record, "before work whose launch was not recorded",
              "the launches were not recorded, so the cause is not known"},
    PartWords{IdlePart::began_late, "before work that was queued in time but started late",
              "it was not recorded why the queued work started late"},
};

constexpr bool parts_in_order() {
  for (std::size_t i = 0; i < part_words.size(); ++i)
    if (part_words[i].part != static_cast<IdlePart>(i)) return false;
  return true;
}
static_assert(parts_in_order(), "the table must follow the enumeration");

}  // namespace

IdlePart part_of(const IdleShare& share) {
  switch (share.detail) {
    case IdleDetail::nothing_followed:
      return IdlePart::nothing_launched;
    case IdleDetail::waits_for_event:
      return IdlePart::other_stream;
    case IdleDetail::profiler_overhead:
      return IdlePart::profiler;
    case IdleDetail::inside_graph:
      return IdlePart::inside_graph;
    case IdleDetail::no_launch_record:
      return IdlePart::no_launch_record;
    case IdleDetail::launching:
    case IdleDetail::none:
      break;
  }
  switch (share.cause) {
    case IdleCause::sync:
      return IdlePart::sync;
    case IdleCause::kernel_gap:
      return IdlePart::short_gaps;
    case IdleCause::other:
      return IdlePart::began_late;
    case IdleCause::host:
    case IdleCause::data:
      break;
  }
  return IdlePart::late_launch;
}

std::vector<IdlePartSum> idle_parts(const Usual& usual) {
  std::vector<IdlePartSum> sums;
  for (const PartWords& row : part_words) sums.push_back({row.part, 0});
  const auto add = [&sums](IdlePart part, std::int64_t ns) { sums[static_cast<std::size_t>(part)].ns += ns; };
  // CPU ranks have causes without shares.
  add(IdlePart::outside_spans, usual.total.idle_ns_of(IdleCause::host));
  add(IdlePart::sync, usual.total.idle_ns_of(IdleCause::sync));
  for (const IdleShare& share : usual.idle_shares) {
    if (share.cause == IdleCause::data) continue;
    if (share.cause == IdleCause::host) add(IdlePart::outside_spans, -share.ns);
    if (share.cause == IdleCause::sync) add(IdlePart::sync, -share.ns);
    add(part_of(share), share.ns - share.outside_ns);
  }
  std::erase_if(sums, [](const IdlePartSum& sum) { return sum.ns <= 0; });
  std::ranges::stable_sort(sums, std::ranges::greater{}, &IdlePartSum::ns);
  return sums;
}

std::string_view words_of(IdlePart part) { return part_words[static_cast<std::size_t>(part)].lost_to; }

std::string_view why_no_gain(IdlePart part) { return part_words[static_cast<std::size_t>(part)].why_no_gain; }

}  // namespace rankscope::analyzer
