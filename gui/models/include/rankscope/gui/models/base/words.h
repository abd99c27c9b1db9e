// Texts that several panels share.
#pragma once

#include <QString>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::gui {

[[nodiscard]] inline QString qt_text(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// As duration_text() of core; a difference may be negative: "-1.500 ms".
[[nodiscard]] QString time_text(nanoseconds time);
/// Time since the start of the run, to the nanosecond, in one unit for all of the run: "1.347512345 s".
[[nodiscard]] QString moment_text(const Run& run, RunTime moment);
/// In the unit in which the name of the counter ends: "1.05 MB", "12.0 MB/s", "93.0 %", "250 W".
[[nodiscard]] QString counter_text(std::string_view counter, double value);
/// What the counter last said up to a moment; nothing before its first sample.
[[nodiscard]] std::optional<double> value_at(const Run& run, const CounterTrack& counter, RunTime moment);
/// Numbers in texts by their value: "stream 2" comes before "stream 10".
[[nodiscard]] bool comes_before(std::string_view a, std::string_view b);
/// "12.3 %"
[[nodiscard]] QString percent_text(double share);
/// The name of a span without templates and arguments, the same where it has none: "ampere_sgemm_128x64_tn".
[[nodiscard]] std::string short_name_of(const Run& run, const Span& span);
/// "rank 3", or the process where it has none: "pid 17".
[[nodiscard]] QString rank_text(const Run& run, const Lane& lane);
/// "rank 3 / stream 7"
[[nodiscard]] QString path_of(const Run& run, const Lane& lane);
/// The value of an attribute in words; sizes of keys that end in "bytes" in two forms: "1048576 (1.05 MB)".
[[nodiscard]] QString attribute_text(const Run& run, const Attribute& attribute);

/// "This recording is incomplete.", then a line for each loss with how much of it there is, what that means and what to
/// do: "Events dropped: 7. The ring was full: ...". The greatest loss first; empty where nothing was lost. If there are
/// more than `most`, it says where the others are.
[[nodiscard]] QString missing_text(const Run& run, std::size_t most);

}  // namespace rankscope::gui
