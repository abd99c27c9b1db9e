#include "rankscope/gui/views/window/picture_file.h"

#include <QBuffer>
#include <QFileInfo>
#include <QPainter>
#include <QPalette>
#include <algorithm>
#include <array>
#ifdef RANKSCOPE_HAS_SVG
#include <QSvgGenerator>
#endif

#include "rankscope/analyzer/output_file.h"
#include "rankscope/core/format.h"
#include "rankscope/gui/views/timeline/timeline_view.h"

namespace rankscope::gui {
namespace {

using Parts = std::span<const PicturePart>;

/// Of the line above a timeline.
int title_height(const PicturePart& part) {
  return part.title.isEmpty() ? 0 : part.timeline->fontMetrics().height() + 6;
}

QSize size_of(Parts parts) {
  QSize size{1, 0};
  for (const PicturePart& part : parts) {
    const QSize one = part.timeline->picture_size();
    size = {std::max(size.width(), one.width()), size.height() + title_height(part) + one.height()};
  }
  return size;
}

void paint_parts(QPainter& painter, Parts parts) {
  const QPalette colours = parts.front().timeline->palette();
  painter.fillRect(QRect{{0, 0}, size_of(parts)}, colours.color(QPalette::Base));
  painter.save();
  for (const PicturePart& part : parts) {
    const int height = title_height(part);
    painter.setFont(part.timeline->font());
    painter.setPen(colours.color(QPalette::Text));
    if (height > 0) painter.drawText(QRect{6, 0, size_of(parts).width() - 6, height}, Qt::AlignVCenter, part.title);
    painter.translate(0, height);
    part.timeline->paint_picture(painter);
    painter.translate(0, part.timeline->picture_size().height());
  }
  painter.restore();
}

QByteArray png_of(Parts parts) {
  const double ratio = parts.front().timeline->devicePixelRatioF();
  QImage image{(QSizeF{size_of(parts)} * ratio).toSize(), QImage::Format_RGB32};
  image.setDevicePixelRatio(ratio);
  QPainter painter{&image};
  paint_parts(painter, parts);
  painter.end();
  QByteArray bytes;
  QBuffer buffer{&bytes};
  image.save(&buffer, "PNG");
  return bytes;
}

#ifdef RANKSCOPE_HAS_SVG
Result<QByteArray> svg_of(Parts parts) {
  QByteArray bytes;
  QBuffer buffer{&bytes};
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize(size_of(parts));
  generator.setViewBox(QRect{{0, 0}, size_of(parts)});
  generator.setResolution(parts.front().timeline->logicalDpiX());  // so that letters are as large as on the screen
  generator.setTitle(QStringLiteral("rankscope"));
  QPainter painter{&generator};
  paint_parts(painter, parts);
  painter.end();
  return bytes;
}
#else
Result<QByteArray> svg_of(Parts) {
  return fail(ErrorKind::cannot_write, "this viewer was built without QtSvg (qt6-svg-dev); save the picture as .png");
}
#endif

}  // namespace

Result<void> save_picture(const TimelineView& view, const std::filesystem::path& file) {
  return save_picture(std::array{PicturePart{&view}}, file);
}

Result<void> save_picture(Parts parts, const std::filesystem::path& file) {
  RS_CHECK(!parts.empty());
  const std::string end = file.extension().string();
  if (end != ".png" && end != ".svg")
    return fail(ErrorKind::usage, format("{}: the name of a picture must end in .png or .svg", file.string()));
  QByteArray bytes;
  if (end == ".png")
    bytes = png_of(parts);
  else {
    RS_TRY(bytes, svg_of(parts));
  }
  return analyzer::write_file(file, std::string_view{bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

}  // namespace rankscope::gui
