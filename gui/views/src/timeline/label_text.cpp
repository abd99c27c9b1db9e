#include "timeline/label_text.h"

#include <algorithm>
#include <utility>

namespace rankscope::gui {
namespace {

constexpr QChar ellipsis{0x2026};

/// How many letters of the beginning and of the end are written.
struct Ends {
  qsizetype front = 0;
  qsizetype back = 0;
};

Ends ends_of(qsizetype letters) {
  constexpr qsizetype fewest_for_both_ends = 8;
  if (letters < fewest_for_both_ends) return {letters, 0};
  return {letters / 3, letters - letters / 3};
}

}  // namespace

QString shortened_label(const QString& text, qsizetype letters) {
  if (letters < 2) return {};
  if (letters >= text.size()) return text;
  const Ends ends = ends_of(letters);
  return text.left(ends.front) + ellipsis + text.right(ends.back);
}

MeasuredLabel::MeasuredLabel(QString text, const QFontMetricsF& metrics)
    : text_(std::move(text)), ellipsis_(metrics.horizontalAdvance(ellipsis)) {
  ends_.push_back(0);
  for (const QChar letter : text_) ends_.push_back(ends_.back() + metrics.horizontalAdvance(letter));
}

double MeasuredLabel::width_of(qsizetype letters) const {
  const Ends ends = ends_of(letters);
  const auto end_of = [this](qsizetype count) { return ends_[static_cast<std::size_t>(count)]; };
  return end_of(ends.front) + ellipsis_ + ends_.back() - end_of(text_.size() - ends.back);
}

QString MeasuredLabel::fitting(double room) const {
  if (ends_.back() <= room) return text_;
  // The mean letter is a good guess; those at the ends may be wider or narrower.
  const auto guess = static_cast<qsizetype>(static_cast<double>(text_.size()) * std::max(0.0, room) / ends_.back());
  qsizetype letters = std::min(guess, text_.size() - 1);
  while (letters + 1 < text_.size() && width_of(letters + 1) <= room) ++letters;
  while (letters > 0 && width_of(letters) > room) --letters;
  return shortened_label(text_, letters);
}

}  // namespace rankscope::gui
