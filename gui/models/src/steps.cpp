#include "rankscope/gui/models/steps.h"

#include <QObject>
#include <algorithm>

#include "rankscope/analyzer/render.h"
#include "rankscope/gui/models/words.h"

namespace rankscope::gui {

const analyzer::StepWindow* step_at(const analyzer::Report* report, RankId rank, RunTime moment) {
  if (report == nullptr || !report->steps) return nullptr;
  const auto& windows = report->steps->windows;
  const auto found = std::ranges::find_if(
      windows, [&](const analyzer::StepWindow& step) { return step.rank == rank && step.window.contains(moment); });
  return found == windows.end() ? nullptr : &*found;
}

QString no_steps_text(const analyzer::Report& report) {
  if (report.steps) return {};
  const QString why = qt_text(report.steps.error().why);
  return QObject::tr("Steps are not known: %1. %2").arg(why, qt_text(analyzer::remedy_for(report, "steps")));
}

}  // namespace rankscope::gui
