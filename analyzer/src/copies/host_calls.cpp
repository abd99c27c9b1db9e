#include "copies/host_calls.h"

#include <algorithm>
#include <array>

#include "rankscope/core/model/run.h"
#include "split/host_timeline.h"
#include "steps/range_kinds.h"

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

HostCalls::HostCalls(const Run& run) : run_(run), named_(run.strings().size(), Named::unknown) {}

HostCalls::Named HostCalls::named(StringId call) {
  Named& known = named_[call.index()];
  if (known == Named::unknown) {
    const std::string_view name = run_.text(call);
    const bool copies = name.find("Memcpy") != std::string_view::npos || name.find("Memset") != std::string_view::npos;
    known = allocates_memory(name)         ? Named::allocation
            : blocks_host(name) && !copies ? Named::synchronization
                                           : Named::nothing;
  }
  return known;
}

std::optional<CallUse> HostCalls::use_of(const Span& span, std::span<const SpanId> copies) {
  if (std::ranges::binary_search(copies, run_.id_of(span))) return CallUse::copy;
  if (span.kind != SpanKind::runtime) return std::nullopt;
  switch (named(span.name)) {
    case Named::synchronization:
      return CallUse::synchronization;
    case Named::allocation:
      return CallUse::allocation;
    case Named::unknown:
    case Named::nothing:
      return std::nullopt;
  }
  return std::nullopt;
}

void HostCalls::over(const Lane& lane, const TimeCells& cells, std::span<const SpanId> copies, RunTime first_work) {
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
    const auto use = use_of(span, copies);
    if (!use || span.time.begin < in_call_until) continue;  // a driver call inside a counted runtime call
    in_call_until = span.time.end;
    const bool before_work = *use == CallUse::allocation && span.time.begin < first_work;
    const auto cell = static_cast<std::uint32_t>(cells.at(span.time.begin));
    CallSum& sum = sums_[{*use, span.name, place.op, place.range, cell, before_work}];
    ++sum.count;
    sum.ns += span.time.length().count();
  }
}

}  // namespace rankscope::analyzer
