// Colours of spans. All sets can be told apart with red-green blindness (Okabe and Ito's palette and steps between blue
// and orange), and communication is hatched, too.
#pragma once

#include <QColor>
#include <QRgb>
#include <string_view>

#include "rankscope/core/model/span.h"

namespace rankscope::gui {

enum class ColourBy : std::uint8_t { kind, name, lateness };
enum class Theme : std::uint8_t { light, dark };

/// What is not a span.
struct ThemeColours {
  QRgb background;
  QRgb lane;    ///< behind spans
  QRgb header;  ///< of hosts and ranks
  QRgb text;
  QRgb faint;     ///< ticks and rims
  QRgb accent;    ///< selection
  QRgb critical;  ///< critical path
};
[[nodiscard]] const ThemeColours& colours_of(Theme theme);

[[nodiscard]] QRgb colour_of(SpanKind kind);
/// Of the names that take most time, each its own; more begin anew.
[[nodiscard]] QRgb colour_of_place(std::size_t place);
/// Of all others, paler; the same for names that differ in digits only.
[[nodiscard]] QRgb colour_of_name(std::string_view name);
/// From blue (quicker than the median rank by a fifth of a step) over grey to orange (later by as much).
[[nodiscard]] QRgb colour_of_lateness(float share_of_step);
/// Drawn with hatching: time in which nothing moves or communication.
[[nodiscard]] bool is_hatched(SpanKind kind);
/// `share` of `over` on `under`.
[[nodiscard]] QRgb blend(QRgb under, QRgb over, float share);
/// The contrast of two colours after WCAG 2: 1 to 21.
[[nodiscard]] double contrast(QRgb a, QRgb b);
/// Black or white, whichever reads better on it: always with a contrast of more than 4.5.
[[nodiscard]] QColor text_on(QRgb background);

}  // namespace rankscope::gui
