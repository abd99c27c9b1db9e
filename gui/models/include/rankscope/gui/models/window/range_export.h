// What is in sight, as a file for other tools.
#pragma once

#include <QObject>
#include <filesystem>
#include <string>
#include <vector>

#include "rankscope/gui/models/base/latest_job.h"
#include "rankscope/gui/models/session/session.h"

namespace rankscope::gui {

/// What to write where.
struct ExportWish {
  std::string format;  ///< as in `rankscope export --to`
  std::filesystem::path out;
  TimeRange time;
  std::vector<RankId> ranks{};  ///< empty = all
};
/// The selected stretch of time, else what is visible of the chosen ranks, whichever event is selected.
[[nodiscard]] ExportWish wish_of(const Session& session, std::string format, std::filesystem::path out);
/// "Export the selected stretch: 12.3 ms of 2 ranks", for what wish_of() is now.
[[nodiscard]] QString export_title(const Session& session);

/// Writes in the background, as `rankscope export` does, in the times that are shown. One file at a time: another wish
/// takes the place of the one before.
class RangeExport : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  void start(std::shared_ptr<const Run> run, ExportWish wish);
  [[nodiscard]] bool busy() const { return job_.busy(); }

 Q_SIGNALS:
  void done(const QString& sentence);
  void failed(const QString& sentence);

 private:
  LatestJob job_;
};

}  // namespace rankscope::gui
