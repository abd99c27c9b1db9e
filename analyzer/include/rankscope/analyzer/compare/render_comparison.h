// A Comparison as text for people, as a page to send around, and as JSON for programs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/compare/compare.h"
#include "rankscope/analyzer/render.h"

namespace rankscope::analyzer {

/// What is shown.
struct ComparisonView {
  const Comparison& comparison;
  std::optional<Gate> gate;  ///< where a gate has judged it
  std::size_t top = 10;      ///< length of the lists in text and page
};

/// At most 100 columns wide.
[[nodiscard]] std::string render_text(const ComparisonView& view, Colour colour);

/// Schema rankscope.compare/1 (docs/compare.md); deterministic.
[[nodiscard]] std::string render_json(const ComparisonView& view);

/// One HTML page that needs no other file and no network; deterministic.
[[nodiscard]] std::string render_html(const ComparisonView& view);

/// The verdict in one line: what was compared, the medians, the interval, and the limit of a gate.
[[nodiscard]] std::string verdict_line(const ComparisonView& view);

/// What makes the verdict unsure or the runs not comparable, a sentence each, the gravest first: to be read before it.
[[nodiscard]] std::vector<std::string> doubts_about(const Comparison& comparison);

/// The part that changed most and by how many ms: "compute +50.821"; a dash where nothing changed.
[[nodiscard]] std::string largest_change(const SplitChange& change);

/// "compute", "waiting for other ranks", ...
[[nodiscard]] std::string_view words_of(SplitPart part);
[[nodiscard]] std::string_view words_of(KeyKind kind);

}  // namespace rankscope::analyzer
