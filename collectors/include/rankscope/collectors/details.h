// What can be recorded of each event beside its name and time: off unless asked for, since it costs. One row per option
// of `record` and `train`.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rankscope/collectors/annotate_table.h"

namespace rankscope::collectors {

using annotate::Detail;
inline constexpr std::size_t detail_count = 4;

/// One row of the table of details.
struct DetailInfo {
  Detail detail;
  std::string_view id;       ///< the option is "--" and this
  std::string_view summary;  ///< what is recorded, and what it costs
  std::string_view what;     ///< as in "no ... were recorded"
};
[[nodiscard]] std::span<const DetailInfo> details();

/// Which details to record; the bits are those of annotate::Detail, which programs see.
struct DetailSet {
  std::uint32_t bits = 0;
  [[nodiscard]] bool has(Detail detail) const { return (bits & static_cast<std::uint32_t>(detail)) != 0; }
  void add(Detail detail) { bits |= static_cast<std::uint32_t>(detail); }
  bool operator==(const DetailSet&) const = default;
};
/// "shapes,memory"; empty for none.
[[nodiscard]] std::string name_of(DetailSet set);
/// Reads that list; ids it does not know are left out.
[[nodiscard]] DetailSet details_from(std::string_view list);

/// Metadata key of the run: what the user asked for, or "none". What is acted on: recording::details_recorded_key.
inline constexpr const char* details_asked_key = "details_asked";

}  // namespace rankscope::collectors
