#include "rankscope/gui/models/timeline/navigator.h"

namespace rankscope::gui {

void RangeHistory::leave(TimeRange from, std::string_view kind) {
  ahead_.clear();
  const bool goes_on = !kind.empty() && kind == kind_;
  kind_ = kind;
  if (goes_on || (!behind_.empty() && behind_.back() == from)) return;
  if (behind_.size() == most) behind_.erase(behind_.begin());
  behind_.push_back(from);
}

std::optional<TimeRange> RangeHistory::back(TimeRange from) {
  kind_ = {};
  if (behind_.empty()) return std::nullopt;
  const TimeRange to = behind_.back();
  behind_.pop_back();
  ahead_.push_back(from);
  return to;
}

std::optional<TimeRange> RangeHistory::forward(TimeRange from) {
  kind_ = {};
  if (ahead_.empty()) return std::nullopt;
  const TimeRange to = ahead_.back();
  ahead_.pop_back();
  behind_.push_back(from);
  return to;
}

void RangeHistory::clear() { *this = {}; }

}  // namespace rankscope::gui
