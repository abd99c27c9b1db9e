#include "copies/host_calls.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "rankscope/core/model/run.h"
#include "split/host_timeline.h"
#include "steps/range_kinds.h"
#include "words/text_of.h"

namespace rankscope::analyzer {
bool allocates_memory(std::string_view name) {
  static constexpr std::array calls{std::string_view{"cudaMalloc"},       std::string_view{"cudaFree"},
                                    std::string_view{"cudaMallocHost"},   std::string_view{"cudaFreeHost"},
                                    std::string_view{"cudaHostAlloc"},    std::string_view{"cudaMallocManaged"},
                                    std::string_view{"cudaHostRegister"}, std::string_view{"cudaHostUnregister"},
                                    std::string_view{"cuMemCreate"},      std::string_view{"cuMemRelease"},
                                    std::string_view{"cuMemMap"},         std::string_view{"cuMemUnmap"},
                                    std::string_view{"cuMemAlloc"},       std::string_view{"cuMemFree"},
                                    std::string_view{"hipMalloc"},        std::string_view{"hipFree"},
                                    std::string_view{"hipHostMalloc"},    std::string_view{"hipHostFree"}};
  // Nsight names versions of calls: cudaMalloc_v3020, cuMemAlloc_v2.
  return std::ranges::any_of(calls, [&](std::string_view call) {
    return name == call || (name.starts_with(call) && name.substr(call.size()).starts_with("_v"));
  });
}

HostCalls::HostCalls(const Run& run) : run_(run), uses_(run.strings().size(), Use::unknown) {}

HostCalls::Use HostCalls::use_of(const Span& span) {
  if (span.kind != SpanKind::runtime) return Use::none;
  Use& use = uses_[span.name.index()];
  if (use == Use::unknown) {
    const std::string_view name = run_.text(span.name);
    const bool copies = name.find("Memcpy") != std::string_view::npos || name.find("Memset") != std::string_view::npos;
    use = allocates_memory(name) ? Use::allocation : blocks_host(name) && !copies ? Use::synchronization : Use::none;
  }
  return use;
}

void HostCalls::over(const Lane& lane, const WindowTime& windows, std::span<const SpanId> copies, RunTime behind) {
  std::vector<Open> open;
  Place place;
  RunTime in_call_until = RunTime::min();
  for (const Span& span : run_.spans_of(lane)) {
    while (!open.empty() && open.back().end <= span.time.begin) {
      place = open.back().outside;
      open.pop_back();
    }
    if (const Holds held = holds(span.kind); held != Holds::nothing) {
      open.push_back({span.time.end, place});
      (held == Holds::op ? place.op : place.range) = span.name;
      continue;
    }
    const bool copies_now = std::ranges::binary_search(copies, run_.id_of(span));
    const Use use = copies_now ? Use::copy : use_of(span);
    if (use == Use::none || span.time.begin < in_call_until) continue;  // a driver call inside a counted runtime call
    in_call_until = span.time.end;
    const bool early = use == Use::allocation && span.time.begin < behind;
    if (!early && windows.counts(span.time.begin)) add(use, span, place);
  }
}

void HostCalls::add(Use use, const Span& call, const Place& place) {
  Sum& sum = sums_[{use, call.name, place}];
  ++sum.count;
  sum.ns += call.time.length().count();
}

std::vector<HostCallRow> HostCalls::rows_of(Use use) const {
  std::vector<HostCallRow> rows;
  for (const auto& [key, sum] : sums_)
    if (key.use == use)
      rows.push_back(
          {text_of(run_, key.call), text_of(run_, key.place.op), text_of(run_, key.place.range), sum.count, sum.ns});
  std::ranges::sort(rows, [](const HostCallRow& a, const HostCallRow& b) {
    return std::tie(b.ns, a.call, a.op, a.range) < std::tie(a.ns, b.call, b.op, b.range);
  });
  return rows;
}

}  // namespace rankscope::analyzer
