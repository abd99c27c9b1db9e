// The table of sources. A new collector adds its row here and in core/choices.h.
#include <algorithm>

#include "rankscope/collectors/sources.h"
#include "rankscope/core/choices.h"
#include "rankscope/core/format.h"

#ifndef RANKSCOPE_HAVE_NVTX
#define RANKSCOPE_HAVE_NVTX 0
#endif

namespace rankscope::collectors {
namespace {

enum class Built : std::uint8_t { no, yes };

constexpr SourceInfo source_row(Source source, std::string_view needs, Built built = Built::yes) {
  const choices::Source& choice = choices::sources[static_cast<std::size_t>(source)];
  return {source, choice.id, choice.summary, needs, built == Built::yes, choice.by_default};
}

static_assert(choices::sources.size() == source_count);
constexpr std::array<SourceInfo, source_count> source_table{
    source_row(Source::annotate, ""),
    source_row(Source::nvtx, "", RANKSCOPE_HAVE_NVTX != 0 ? Built::yes : Built::no),
    source_row(Source::host, "/proc"),
    source_row(Source::cupti, "libcupti and an NVIDIA driver"),
    source_row(Source::nccl, "NCCL 2.23 or newer"),
    source_row(Source::nvml, "libnvidia-ml"),
    source_row(Source::pm, "libcupti of CUDA 12.8 or newer, and permission to read the counters"),
};

std::string ids(Built wanted) {
  std::string text;
  for (const SourceInfo& info : source_table)
    if (info.built == (wanted == Built::yes)) text += (text.empty() ? "" : ", ") + std::string{info.id};
  return text;
}

/// "there are annotate, host; not in this build: cupti"
std::string source_choices() {
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
      return fail(ErrorKind::usage, format("--collect: unknown source '{}'; {}", id, source_choices()));
    }
    if (!info->built)
      return fail(ErrorKind::usage,
                  format("--collect: the source '{}' is not in this build; {}", id, source_choices()));
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
