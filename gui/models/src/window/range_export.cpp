#include "rankscope/gui/models/window/range_export.h"

#include <algorithm>

#include "rankscope/analyzer/export.h"
#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/select.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

Result<void> write(std::shared_ptr<const Run> run, const ExportWish& wish, const std::stop_token& stop) {
  if (analyzer::holds_original(wish.out))
    return fail(ErrorKind::usage, format("{} is a recording or a trace and would be overwritten; choose another name",
                                         wish.out.string()));
  RS_TRY(const auto part, analyzer::select(std::move(run), {.steps = {}, .ranks = wish.ranks, .time = wish.time}));
  for (const analyzer::ExportInfo& info : analyzer::exports())
    if (info.id == wish.format) return info.write(*part, wish.out, [&stop](double) { return !stop.stop_requested(); });
  return fail(ErrorKind::usage, format("'{}' is not an export format", wish.format));
}

/// "12.3 ms of 2 ranks"
QString scope_of(const ExportWish& wish) {
  const QString ranks = wish.ranks.empty()       ? RangeExport::tr("all ranks")
                        : wish.ranks.size() == 1 ? RangeExport::tr("rank %1").arg(wish.ranks.front().value)
                                                 : qt_text(counted(wish.ranks.size(), "rank"));
  return RangeExport::tr("%1 of %2").arg(time_text(wish.time.length()), ranks);
}

}  // namespace

ExportWish wish_of(const Session& session, std::string format, std::filesystem::path out) {
  ExportWish wish{std::move(format), std::move(out), session.visible(), session.filter().ranks};
  if (!session.area()) return wish;
  wish.time = session.area()->time;
  std::vector<RankId> ranks;
  for (const LaneId lane : session.area()->lanes)
    if (const RankId rank = session.run()->lane(lane).rank; rank.is_set()) ranks.push_back(rank);
  std::ranges::sort(ranks);
  ranks.erase(std::ranges::unique(ranks).begin(), ranks.end());
  if (!ranks.empty()) wish.ranks = std::move(ranks);
  return wish;
}

QString export_title(const Session& session) {
  const QString what = scope_of(wish_of(session, {}, {}));
  return session.area() ? RangeExport::tr("Export the selected range: %1").arg(what)
                        : RangeExport::tr("Export the visible range: %1").arg(what);
}

void RangeExport::start(std::shared_ptr<const Run> run, ExportWish wish) {
  job_.start([this, run = std::move(run), wish = std::move(wish)](const std::stop_token& stop) -> LatestJob::Delivery {
    const auto written = write(run, wish, stop);
    if (!written) return [this, error = written.error()] { Q_EMIT failed(QString::fromStdString(error.message)); };
    return [this, wish] {
      Q_EMIT done(tr("Wrote %1 to %2").arg(scope_of(wish), QString::fromStdString(wish.out.string())));
    };
  });
}

}  // namespace rankscope::gui
