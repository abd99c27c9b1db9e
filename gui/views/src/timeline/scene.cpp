#include "timeline/scene.h"

#include <QFontMetricsF>
#include <QImage>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "base/colours.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/analyzer/words.h"
#include "rankscope/core/format.h"
#include "rankscope/core/lod/row_lod.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/time_text.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/session/moments.h"
#include "timeline/counter_paint.h"
#include "timeline/label_text.h"

namespace rankscope::gui {
namespace {

// One row of the timeline as a line of pixels, which is then repeated over the height of the row.

class Line {
 public:
  Line(int width, QRgb background);

  /// A span of its own, with a darker rim at its end where there is room.
  void add_single(const lod::Piece& piece, QRgb colour);
  /// One pixel, as full as its spans cover it. What covers next to nothing is still seen (an eighth).
  void add_column(int x, const lod::Piece& piece, QRgb colour);
  /// The part of a collective in which it waited: paler, hatched against the rest.
  void add_wait(double begin, double end, QRgb colour);
  /// From `top` to before `bottom`, as far as the image goes. Pixels that hide several spans have a zigzag at their
  /// foot.
  void put(QImage& image, int top, int bottom) const;

 private:
  enum Mark : std::uint8_t { plain, hatched, several };
  [[nodiscard]] QRgb shade(std::size_t x, int y, int bottom) const;
  void colour_pixel(int x, QRgb colour, Mark mark);

  QRgb background_;
  std::vector<QRgb> pixels_;
  std::vector<std::uint8_t> marks_;
  bool any_marks_ = false;
};

constexpr float least_share = 0.125F;
constexpr int narrowest_rim = 4;  // pixels of a span that gets a rim
constexpr int hatch_distance = 6;
constexpr int zigzag_height = 2;

Line::Line(int width, QRgb background)
    : background_(background),
      pixels_(static_cast<std::size_t>(std::max(0, width)), background),
      marks_(pixels_.size(), plain) {}

void Line::colour_pixel(int x, QRgb colour, Mark mark) {
  if (x < 0 || x >= static_cast<int>(pixels_.size())) return;
  pixels_[static_cast<std::size_t>(x)] = colour;
  marks_[static_cast<std::size_t>(x)] = mark;
  any_marks_ = any_marks_ || mark != plain;
}

void Line::add_single(const lod::Piece& piece, QRgb colour) {
  const int begin = static_cast<int>(std::lround(piece.begin));
  const int end = std::max(begin + 1, static_cast<int>(std::lround(piece.end)));
  const Mark mark = is_hatched(piece.kind) ? hatched : plain;
  for (int x = begin; x < end; ++x) colour_pixel(x, colour, mark);
  if (end - begin >= narrowest_rim) colour_pixel(end - 1, blend(colour, 0xFF000000, 0.35F), mark);
}

void Line::add_column(int x, const lod::Piece& piece, QRgb colour) {
  colour_pixel(x, blend(background_, colour, std::max(piece.share, least_share)), piece.count > 1 ? several : plain);
}

void Line::add_wait(double begin, double end, QRgb colour) {
  const int last = static_cast<int>(std::lround(end));
  for (int x = static_cast<int>(std::lround(begin)); x < last; ++x) colour_pixel(x, colour, hatched);
}

QRgb Line::shade(std::size_t x, int y, int bottom) const {
  const QRgb colour = pixels_[x];
  const int place = static_cast<int>(x);
  if (marks_[x] == hatched && (place + y) % hatch_distance == 0) return blend(colour, 0xFF000000, 0.3F);
  const int from_foot = bottom - 1 - y;
  if (marks_[x] == several && from_foot < zigzag_height && (place / zigzag_height) % 2 == from_foot % 2)
    return blend(colour, 0xFF000000, 0.6F);
  return colour;
}

void Line::put(QImage& image, int top, int bottom) const {
  const int first = std::max(0, top);
  const int last = std::min(image.height(), bottom);
  const bool has_hatching = any_marks_ && std::ranges::find(marks_, hatched) != marks_.end();
  for (int y = first; y < last; ++y) {
    auto* const out = reinterpret_cast<QRgb*>(image.scanLine(y));
    std::memcpy(out, pixels_.data(), pixels_.size() * sizeof(QRgb));
    if (!has_hatching && (!any_marks_ || bottom - 1 - y >= zigzag_height)) continue;
    for (std::size_t x = 0; x < pixels_.size(); ++x)
      if (marks_[x] != plain) out[x] = shade(x, y, bottom);
  }
}

constexpr double narrowest_label = 22;

class Painter {
 public:
  explicit Painter(const Scene& scene)
      : scene_(scene),
        theme_(colours_of(scene.theme)),
        run_(*scene.facts->run),
        width_(static_cast<int>(std::lround(scene.width * scene.ratio))),
        image_(width_, static_cast<int>(std::lround(scene.height * scene.ratio)), QImage::Format_RGB32),
        view_{scene.time, static_cast<std::uint32_t>(width_)} {
    image_.fill(theme_.background);
  }

  QImage paint() {
    for (const PlacedTrack& placed : scene_.tracks) paint_track(placed);
    if (scene_.labels) {
      QPainter painter{&image_};
      paint_labels(painter);
    }
    image_.setDevicePixelRatio(scene_.ratio);
    return std::move(image_);
  }

  void paint(QPainter& painter) {
    for (const PlacedTrack& placed : scene_.tracks) paint_track(placed);
    painter.drawImage(QRectF{0, 0, scene_.width, scene_.height}, image_);
    painter.save();
    painter.scale(1 / scene_.ratio, 1 / scene_.ratio);
    paint_labels(painter);
    painter.restore();
  }

 private:
  struct Label {
    QRectF box;  // pixels of the screen
    std::string_view text;
    QRgb background;
  };

  int pixel(double y) const { return static_cast<int>(std::lround(y * scene_.ratio)); }

  void paint_track(const PlacedTrack& placed) {
    const Track& track = placed.track;
    switch (track.kind) {
      case TrackKind::host:
        return fill(placed.y, track.height, theme_.header);
      case TrackKind::rank:
        fill(placed.y, track.height, theme_.header);
        return paint_folded(track, placed.y + 2, track.height - 4);
      case TrackKind::steps:
        return paint_steps(placed);
      case TrackKind::lane:
        for (std::uint32_t row = 0; row < track.rows; ++row)
          paint_row(track.lane, track.rank, row, placed.y + row * scene_.row_height, scene_.row_height);
        return;
      case TrackKind::counters:
        return;
      case TrackKind::counter:
        fill(placed.y, track.height, theme_.lane);
        return paint_counter(image_, scene_, placed, pixel(placed.y), pixel(placed.y + track.height));
    }
  }

  /// What stands for the rank above its communication, and ticks where the hits of the search start.
  void paint_folded(const Track& track, double y, double height) {
    if (!track.folded || !track.lane.is_set()) return;
    const bool two = track.comm_lane.is_set();
    paint_row(track.lane, track.rank, track.first_row, y, two ? height / 2 : height);
    if (two) paint_row(track.comm_lane, track.rank, track.comm_row, y + height / 2, height / 2);
    if (scene_.hits != nullptr) paint_ticks((*scene_.hits)[track.process], y, height / 3);
  }

  /// One tick for each pixel in which there are any.
  void paint_ticks(const std::vector<RunTime>& times, double y, double height) {
    const double tick = std::max(1.0, 2 * scene_.ratio);
    auto at = std::ranges::lower_bound(times, scene_.time.begin);
    while (at != times.end() && *at < scene_.time.end) {
      const double x = std::floor(view_.x_of(*at));
      for (int line = std::max(0, pixel(y)); line < std::min(image_.height(), pixel(y + height)); ++line) {
        auto* const out = reinterpret_cast<QRgb*>(image_.scanLine(line));
        for (int column = static_cast<int>(x); column < std::min(width_, static_cast<int>(x + tick)); ++column)
          out[column] = theme_.accent;
      }
      const auto next = nanoseconds{static_cast<std::int64_t>(std::ceil((x + tick) * view_.ns_per_pixel()))};
      at = std::ranges::lower_bound(at, times.end(), std::max(*at + nanoseconds{1}, scene_.time.begin + next));
    }
  }

  void fill(double y, double height, QRgb colour) {
    for (int line = std::max(0, pixel(y)); line < std::min(image_.height(), pixel(y + height)); ++line)
      std::fill_n(reinterpret_cast<QRgb*>(image_.scanLine(line)), width_, colour);
  }

  bool is_lit(StringId name) const { return scene_.lit == nullptr || (*scene_.lit)[name.index()]; }

  QRgb colour_of_piece(const lod::Piece& piece, RankId rank) {
    QRgb colour = 0;
    switch (scene_.colour_by) {
      case ColourBy::kind:
        colour = colour_of(piece.kind);
        break;
      case ColourBy::name:
        colour = name_colour(piece.name);
        break;
      case ColourBy::lateness:
        colour = lateness_colour(rank, piece);
        break;
    }
    return is_lit(piece.name) ? colour : blend(theme_.lane, colour, 0.2F);
  }

  QRgb name_colour(StringId name) {
    const auto [at, added] = name_colours_.try_emplace(name.value, 0);
    if (added) {
      const auto& places = scene_.facts->name_places;
      const std::uint8_t place = places == nullptr ? NamePlaces::none : places->of(name);
      at->second = place == NamePlaces::none ? colour_of_name(run_.text(name)) : colour_of_place(place);
    }
    return at->second;
  }

  /// By the step in which the piece begins.
  QRgb lateness_colour(RankId rank, const lod::Piece& piece) const {
    const Lateness& lateness = scene_.facts->lateness;
    if (lateness.empty()) return colour_of_lateness(0);
    const auto row = std::ranges::find(lateness.ranks, rank);
    if (row == lateness.ranks.end()) return colour_of_lateness(0);
    const RunTime moment = scene_.scale().time_at(piece.begin / scene_.ratio);
    const auto step =
        std::ranges::upper_bound(lateness.steps, moment, {}, [](const analyzer::Step& one) { return one.time.begin; });
    if (step == lateness.steps.begin()) return colour_of_lateness(0);
    const auto share = lateness.share_of(static_cast<std::size_t>(row - lateness.ranks.begin()),
                                         static_cast<std::size_t>(step - lateness.steps.begin() - 1));
    return colour_of_lateness(share.value_or(0));
  }

  void paint_row(LaneId lane, RankId rank, std::uint32_t row, double y, double height) {
    const auto& rows = scene_.facts->lod->lane(lane).rows;
    const int top = pixel(y);
    const int bottom = pixel(y + height) - 1;  // a line between rows
    Line line{width_, theme_.lane};
    if (row < rows.size() && bottom > 0 && top < image_.height()) {
      for (const lod::Piece& piece : rows[row].pieces(view_)) {
        const QRgb colour = colour_of_piece(piece, rank);
        piece.single ? add_single(line, piece, colour, top, bottom)
                     : line.add_column(static_cast<int>(piece.begin), piece, colour);
      }
    }
    line.put(image_, top, bottom);
  }

  void add_single(Line& line, const lod::Piece& piece, QRgb colour, int top, int bottom) {
    line.add_single(piece, colour);
    if (const double waited = wait_end(piece); waited > piece.begin)
      line.add_wait(piece.begin, waited, colour_of(SpanKind::wait));
    const QRectF box{piece.begin, static_cast<double>(top), piece.end - piece.begin, static_cast<double>(bottom - top)};
    if (scene_.labels && box.width() >= narrowest_label * scene_.ratio && box.height() >= 9 * scene_.ratio)
      labels_.push_back({box, name_on_bar(piece), colour});
  }

  /// Kernels have their short names.
  std::string_view name_on_bar(const lod::Piece& piece) {
    if (piece.kind != SpanKind::compute && piece.kind != SpanKind::comm) return run_.text(piece.name);
    const auto [at, added] = short_names_.try_emplace(piece.name.value);
    if (added) at->second = analyzer::short_kernel_name(run_.text(piece.name));
    return at->second;
  }

  /// Pixel up to which a collective waited for other ranks; before its begin if it did not.
  double wait_end(const lod::Piece& piece) const {
    const std::uint32_t row = run_.span(piece.span).collective;
    if (row >= scene_.facts->wait_ends.size()) return -1;
    return std::min(piece.end, view_.x_of(scene_.facts->wait_ends[row]));
  }

  void paint_steps(const PlacedTrack& placed) {
    const int top = pixel(placed.y);
    const int bottom = pixel(placed.y + placed.track.height) - 1;
    Line line{width_, theme_.background};
    for (const analyzer::StepWindow& step : steps_of(scene_.facts->report.get(), placed.track.rank))
      if (!intersect(step.window, scene_.time).empty()) add_step(line, step, top, bottom);
    line.put(image_, top, bottom);
  }

  void add_step(Line& line, const analyzer::StepWindow& step, int top, int bottom) {
    lod::Piece piece;
    piece.begin = std::max(0.0, view_.x_of(step.window.begin));
    piece.end = std::min(static_cast<double>(width_), view_.x_of(step.window.end));
    const QRgb colour = blend(theme_.lane, theme_.faint, step.index % 2 == 0 ? 1.0F : 0.5F);
    line.add_single(piece, colour);
    if (!scene_.labels || piece.end - piece.begin < narrowest_label * scene_.ratio) return;
    const auto [text, added] = step_names_.try_emplace(step.index, format("step {}", step.index));
    labels_.push_back(
        {{piece.begin, static_cast<double>(top), piece.end - piece.begin, static_cast<double>(bottom - top)},
         text->second,
         colour});
  }

  void paint_labels(QPainter& painter) {
    QFont font = scene_.font;
    font.setPixelSize(std::max(7, static_cast<int>(std::min(11.0, scene_.row_height - 4) * scene_.ratio)));
    painter.setFont(font);
    const QFontMetricsF metrics{font};
    for (const Label& label : labels_) {
      const double room = label.box.width() - 6 * scene_.ratio;
      const QString text = fitting(label.text, room, metrics);
      if (text.isEmpty()) continue;
      painter.setPen(text_on(label.background));
      const double base = label.box.top() + (label.box.height() + metrics.capHeight()) / 2;
      painter.drawText(QPointF{label.box.left() + 3 * scene_.ratio, base}, text);
    }
  }

  /// All of it, or its two ends; nothing where not even a few letters fit.
  QString fitting(std::string_view text, double room, const QFontMetricsF& metrics) {
    constexpr qsizetype most = 400;
    auto at = measured_.find(text.data());
    if (at == measured_.end())
      at = measured_.emplace(text.data(), MeasuredLabel{shortened_label(qt_text(text), most), metrics}).first;
    return at->second.fitting(room);
  }

  const Scene& scene_;
  const ThemeColours& theme_;
  const Run& run_;
  int width_;
  QImage image_;
  lod::View view_;
  std::vector<Label> labels_;
  std::unordered_map<std::int64_t, std::string> step_names_;
  std::unordered_map<std::uint32_t, QRgb> name_colours_;
  std::unordered_map<std::uint32_t, std::string> short_names_;  // by StringId
  std::unordered_map<const char*, MeasuredLabel> measured_;     // by the place of the text, which stays where it is
};

}  // namespace

QImage paint(const Scene& scene) { return Painter(scene).paint(); }
void paint(QPainter& painter, const Scene& scene) { Painter(scene).paint(painter); }

}  // namespace rankscope::gui
