// The table of sources. A new collector adds its row here.
#include <algorithm>

#include "rankscope/collectors/sources.h"
#include "rankscope/core/format.h"

#ifndef RANKSCOPE_HAVE_NVTX
#define RANKSCOPE_HAVE_NVTX 0
#endif

namespace rankscope::collectors {
namespace {

constexpr std::array<SourceInfo, source_count> source_table{{
    {Source::annotate, "annotate", "spans and collectives that a program reports through annotate.h", "", true},
    {Source::nvtx, "nvtx", "NVTX ranges, marks and payloads, including those of NCCL's functions", "",
     RANKSCOPE_HAVE_NVTX != 0},
    {Source::host, "host", "samples of CPU time, memory, context switches, page faults, I/O and pressure", "/proc",
     true},
    {Source::cupti, "cupti", "kernels, copies and CUDA calls", "libcupti and an NVIDIA driver", true},
    {Source::nccl, "nccl", "collectives inside NCCL, through its profiler plugin", "NCCL 2.23 or newer", true},
    {Source::nvml, "nvml", "samples of busy time, memory, power, clocks and links of the GPUs", "libnvidia-ml", true},
    {Source::pm, "pm",
     "SM, tensor, DRAM, NVLink and PCIe activity of the GPUs, from their own counters (--pm-sampling)",
     "libcupti of CUDA 12.6 or newer, and permission to read the counters", true, false},
}};

enum class Built : std::uint8_t { no, yes };

std::string ids(Built wanted) {
  std::string text;
  for (const SourceInfo& info : source_table)
    if (info.built == (wanted == Built::yes)) text += (text.empty() ? "" : ", ") + std::string{info.id};
  return text;
}

/// "there are annotate, host; not in this build: cupti"
std::string choices() {
  const std::string unbuilt = ids(Built::no);
  return format("the sources are {}{}{}", ids(Built::yes), unbuilt.empty() ? "" : "; not in this build: ", unbuilt);
}

}  // namespace

std::span<const SourceInfo> sources() { return source_table; }

SourceSet all_sources() {
  SourceSet set;
  for (const SourceInfo& info : source_table) {
    if (info.built && info.by_default) set.add(info.source);
  }
  return set;
}

Result<SourceSet> sources_from(std::string_view list) {
  if (list.empty() || list == "all") return all_sources();
  SourceSet set;
  while (!list.empty()) {
    const std::string_view id = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), id.size() + 1));
    const auto* const info = std::ranges::find(source_table, id, &SourceInfo::id);
    if (info == source_table.end()) {
      return fail(ErrorKind::usage, format("--collect: unknown source '{}'; {}", id, choices()));
    }
    if (!info->built)
      return fail(ErrorKind::usage, format("--collect: the source '{}' is not in this build; {}", id, choices()));
    set.add(info->source);
  }
  return set;
}

std::string name_of(SourceSet set) {
  std::string text;
  for (const SourceInfo& info : source_table) {
    if (set.has(info.source)) text += (text.empty() ? "" : ",") + std::string{info.id};
  }
  return text;
}

}  // namespace rankscope::collectors
