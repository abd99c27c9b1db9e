#include "timeline/label_text.h"

namespace rankscope::gui {

QString shortened_label(const QString& text, qsizetype letters) {
  constexpr QChar ellipsis{0x2026};
  constexpr qsizetype fewest_for_both_ends = 8;
  if (letters < 2) return {};
  if (letters >= text.size()) return text;
  if (letters < fewest_for_both_ends) return text.left(letters) + ellipsis;
  const qsizetype front = letters / 3;
  return text.left(front) + ellipsis + text.right(letters - front);
}

}  // namespace rankscope::gui
