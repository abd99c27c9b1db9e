#include "exports/shared/nesting.h"

namespace rankscope::analyzer {
namespace {

/// One row: the ends of the spans that are open at the current time, the innermost last.
class Row {
 public:
  /// Takes the span if it fits.
  bool take(TimeRange time) {
    while (!open_.empty() && open_.back() <= time.begin) open_.pop_back();
    if (!open_.empty() && open_.back() < time.end) return false;
    open_.push_back(time.end);
    return true;
  }

 private:
  std::vector<RunTime> open_;
};

}  // namespace

std::vector<std::uint32_t> nesting_rows(std::span<const Span> spans) {
  std::vector<std::uint32_t> result;
  result.reserve(spans.size());
  std::vector<Row> rows(1);
  for (const auto& span : spans) {
    std::uint32_t row = 0;
    while (!rows[row].take(span.time)) {
      if (++row == rows.size()) rows.emplace_back();
    }
    result.push_back(row);
  }
  return result;
}

}  // namespace rankscope::analyzer
