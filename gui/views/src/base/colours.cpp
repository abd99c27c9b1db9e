#include "base/colours.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace rankscope::gui {
namespace {

constexpr ThemeColours light{.background = 0xFFFFFFFF,
                             .lane = 0xFFF2F2F2,
                             .header = 0xFFE2E6EA,
                             .text = 0xFF202124,
                             .faint = 0xFFC8CCD0,
                             .accent = 0xFF000000,
                             .critical = 0xFFB00020};
constexpr ThemeColours dark{.background = 0xFF1E1F22,
                            .lane = 0xFF2A2C30,
                            .header = 0xFF383C42,
                            .text = 0xFFE8EAED,
                            .faint = 0xFF55595F,
                            .accent = 0xFFFFFFFF,
                            .critical = 0xFFFF8A9B};

constexpr std::array<QRgb, 12> by_name{0xFF0072B2, 0xFFE69F00, 0xFF009E73, 0xFFCC79A7, 0xFF56B4E9, 0xFFD55E00,
                                       0xFFB8A800, 0xFF332288, 0xFF44AA99, 0xFF882255, 0xFF999933, 0xFF6699CC};
constexpr QRgb other_names = 0xFFC4C9CF;

/// Relative luminance of WCAG 2.
double luminance(QRgb colour) {
  const auto linear = [](int byte) {
    const double value = byte / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * linear(qRed(colour)) + 0.7152 * linear(qGreen(colour)) + 0.0722 * linear(qBlue(colour));
}

}  // namespace

const ThemeColours& colours_of(Theme theme) { return theme == Theme::light ? light : dark; }

QRgb colour_of(SpanKind kind) {
  switch (kind) {
    case SpanKind::compute:
    case SpanKind::graph:
      return 0xFF0072B2;
    case SpanKind::forward:
      return 0xFF56B4E9;
    case SpanKind::backward:
      return 0xFF3A87C8;
    case SpanKind::optimizer:
      return 0xFF009E73;
    case SpanKind::op:
      return 0xFF7FB7D9;
    case SpanKind::comm:
      return 0xFFE69F00;
    case SpanKind::api:
      return 0xFFD9B36C;
    case SpanKind::wait:
      return 0xFFF0D9A8;
    case SpanKind::sync:
      return 0xFFCC79A7;
    case SpanKind::data:
      return 0xFFD55E00;
    case SpanKind::loader:
      return 0xFFB5763F;
    case SpanKind::checkpoint:
      return 0xFFF0E442;
    case SpanKind::memory:
      return 0xFF8C6BB1;
    case SpanKind::runtime:
      return 0xFF8A9099;
    case SpanKind::overhead:
      return 0xFF4D4D4D;
    case SpanKind::step:
      return 0xFFB9C0C8;
    case SpanKind::user:
      return 0xFF9AA5B1;
    case SpanKind::python:
      return 0xFFA9B08F;
  }
  return 0xFF9AA5B1;
}

QRgb colour_of_place(std::size_t place) { return by_name[place % by_name.size()]; }

QRgb colour_of_name(std::string_view name) {
  std::uint32_t hash = 2166136261U;  // FNV-1a
  for (const char c : name)
    if (c < '0' || c > '9') hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  constexpr float share = 0.4F;
  return blend(other_names, by_name[(hash ^ (hash >> 16)) % by_name.size()], share);
}

QRgb colour_of_lateness(float share_of_step) {
  constexpr float most = 0.2F;
  constexpr QRgb early = 0xFF2166AC;
  constexpr QRgb even = 0xFFB9BDC2;
  constexpr QRgb late = 0xFFD95F02;
  const float part = std::clamp(share_of_step / most, -1.0F, 1.0F);
  return part < 0 ? blend(even, early, -part) : blend(even, late, part);
}

bool is_hatched(SpanKind kind) { return kind == SpanKind::comm || kind == SpanKind::wait || kind == SpanKind::sync; }

QRgb blend(QRgb under, QRgb over, float share) {
  const int weight = static_cast<int>(share * 256);
  const auto mix = [weight](int a, int b) { return a + (((b - a) * weight) >> 8); };
  return qRgb(mix(qRed(under), qRed(over)), mix(qGreen(under), qGreen(over)), mix(qBlue(under), qBlue(over)));
}

double contrast(QRgb a, QRgb b) {
  const auto [darker, brighter] = std::minmax({luminance(a), luminance(b)});  // of a list: by value
  return (brighter + 0.05) / (darker + 0.05);
}

QColor text_on(QRgb background) {
  const bool black = contrast(background, 0xFF000000) > contrast(background, 0xFFFFFFFF);
  return black ? QColor{Qt::black} : QColor{Qt::white};
}

}  // namespace rankscope::gui
