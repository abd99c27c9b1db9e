#include "rankscope/gui/models/window/view_file.h"

#include <QFile>
#include <QSaveFile>

#include "rankscope/core/format.h"

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;

constexpr qint64 most_bytes = 16 << 20;
constexpr const char* without = "the recording is shown without this file";

QString qt_path(const fs::path& path) { return QString::fromStdString(path.string()); }

}  // namespace

fs::path view_file_of(const Source& source) {
  if (source.paths.empty()) return {};
  fs::path file = source.paths.front();
  if (!file.has_filename()) file = file.parent_path();  // "run.rankscope/"
  if (source.paths.size() > 1) file += format("+{}", source.paths.size() - 1);
  file += file.extension() == ".rankscope" ? "-view" : ".rankscope-view";
  return file;
}

Result<std::optional<ViewState>> read_view(const fs::path& path, const Run& run) {
  QFile file{qt_path(path)};
  if (!file.exists()) return std::nullopt;
  if (!file.open(QIODevice::ReadOnly))
    return fail(ErrorKind::unreadable,
                format("{} cannot be read ({}); {}", path.string(), file.errorString().toStdString(), without));
  if (file.size() > most_bytes)
    return fail(ErrorKind::unreadable,
                format("{} is not a rankscope view: it is too large; {}", path.string(), without));
  const auto state = view_from_json(file.readAll().toStdString());
  if (!state) return fail(state.error().kind, format("{} {}; {}", path.string(), state.error().message, without));
  if (state->recording != recording_of(run))
    return fail(ErrorKind::unreadable, format("{} belongs to another recording; {}", path.string(), without));
  return *state;
}

Result<void> write_view(const fs::path& path, const ViewState& state) {
  QSaveFile file{qt_path(path)};
  const QByteArray json = QByteArray::fromStdString(to_json(state));
  if (!file.open(QIODevice::WriteOnly) || file.write(json) != json.size() || !file.commit())
    return fail(ErrorKind::cannot_write,
                format("cannot write {}: {}", path.string(), file.errorString().toStdString()));
  return {};
}

}  // namespace rankscope::gui
