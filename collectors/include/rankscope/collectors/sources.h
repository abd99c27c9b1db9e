// What can be recorded: one row per source, read by `record --help`, `--collect` and `doctor`.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rankscope/core/result.h"

namespace rankscope::collectors {

/// A bit of SourceSet, and a row of sources().
enum class Source : std::uint8_t { annotate, nvtx, host, cupti, nccl, nvml, pm };
inline constexpr std::size_t source_count = 7;

/// What is known of a source without looking at the machine.
struct SourceInfo {
  Source source;
  std::string_view id;  ///< as in --collect
  std::string_view summary;
  std::string_view needs;  ///< empty: nothing
  bool built;              ///< false: not in this build
  bool by_default = true;  ///< false: recorded only where it is named, since it changes what is measured
};

/// All sources, in the order they are listed to users.
[[nodiscard]] std::span<const SourceInfo> sources();

/// Which sources to record.
struct SourceSet {
  std::uint32_t bits = 0;
  [[nodiscard]] bool has(Source source) const { return (bits >> static_cast<unsigned>(source) & 1U) != 0; }
  void add(Source source) { bits |= 1U << static_cast<unsigned>(source); }
  bool operator==(const SourceSet&) const = default;
};

/// Every source that this build has and that is recorded by default.
[[nodiscard]] SourceSet all_sources();
/// Reads "nvtx,host" ("" and "all" mean all_sources()). An unknown id, or one that is not built, is a usage error.
[[nodiscard]] Result<SourceSet> sources_from(std::string_view list);
/// The list that sources_from reads.
[[nodiscard]] std::string name_of(SourceSet set);

}  // namespace rankscope::collectors
