// Texts that several panels share.
#pragma once

#include <QString>
#include <optional>
#include <string>
#include <string_view>

#include "rankscope/core/model/run.h"

namespace rankscope::gui {

[[nodiscard]] inline QString qt_text(std::string_view text) {
  return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size()));
}

/// As duration_text() of core; a difference may be negative: "-1.500 ms".
[[nodiscard]] QString time_text(nanoseconds time);
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

}  // namespace rankscope::gui
