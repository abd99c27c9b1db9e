#include "rankscope/gui/views/window/picture_file.h"

#include <QBuffer>
#include <QFileInfo>
#include <QPainter>
#ifdef RANKSCOPE_HAS_SVG
#include <QSvgGenerator>
#endif

#include "rankscope/analyzer/output_file.h"
#include "rankscope/core/format.h"
#include "rankscope/gui/views/timeline/timeline_view.h"

namespace rankscope::gui {
namespace {

QByteArray png_of(const TimelineView& view) {
  const double ratio = view.devicePixelRatioF();
  QImage image{(QSizeF{view.picture_size()} * ratio).toSize(), QImage::Format_RGB32};
  image.setDevicePixelRatio(ratio);
  QPainter painter{&image};
  view.paint_picture(painter);
  painter.end();
  QByteArray bytes;
  QBuffer buffer{&bytes};
  image.save(&buffer, "PNG");
  return bytes;
}

#ifdef RANKSCOPE_HAS_SVG
Result<QByteArray> svg_of(const TimelineView& view) {
  QByteArray bytes;
  QBuffer buffer{&bytes};
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  generator.setSize(view.picture_size());
  generator.setViewBox(QRect{{0, 0}, view.picture_size()});
  generator.setResolution(view.logicalDpiX());  // so that letters are as large as on the screen
  generator.setTitle(QStringLiteral("rankscope"));
  QPainter painter{&generator};
  view.paint_picture(painter);
  painter.end();
  return bytes;
}
#else
Result<QByteArray> svg_of(const TimelineView&) {
  return fail(ErrorKind::cannot_write, "this viewer was built without QtSvg (qt6-svg-dev); save the picture as .png");
}
#endif

}  // namespace

Result<void> save_picture(const TimelineView& view, const std::filesystem::path& file) {
  const std::string end = file.extension().string();
  if (end != ".png" && end != ".svg")
    return fail(ErrorKind::usage, format("{}: the name of a picture must end in .png or .svg", file.string()));
  QByteArray bytes;
  if (end == ".png")
    bytes = png_of(view);
  else {
    RS_TRY(bytes, svg_of(view));
  }
  return analyzer::write_file(file, std::string_view{bytes.constData(), static_cast<std::size_t>(bytes.size())});
}

}  // namespace rankscope::gui
