// What a selected stretch of time sums up to.
#include <array>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/gui/models/details_model.h"
#include "rankscope/gui/models/words.h"

namespace rankscope::gui {

void DetailsModel::add_stretch(const Run& run, const Area& area) {
  add(tr("Begin"), moment_text(run, area.time.begin));
  add(tr("End"), moment_text(run, area.time.end));
  add(tr("Duration"), time_text(area.time.length()));
  add(tr("Lanes"), QString::number(area.lanes.size()));
  const auto& sums = sums_.answer();
  if (sums && sums->question.range == area.time && sums->question.lanes == area.lanes)
    add_sums(*sums);
  else
    add(tr("Sums"), tr("being computed..."));
}

/// Parts of the time of all its ranks, which add up; then its events.
void DetailsModel::add_sums(const RangeAnswer& sums) {
  analyzer::TimeSplit all{};
  for (const RankTimes& one : sums.ranks) all += one.split;
  const std::array parts{std::pair{tr("Compute"), all.compute_ns},
                         std::pair{tr("Moving data"), all.exposed_transfer_ns},
                         std::pair{tr("Waiting"), all.exposed_wait_ns},
                         std::pair{tr("Unknown"),  // as the columns of the statistics
                                   all.exposed_comm_ns - all.exposed_wait_ns - all.exposed_transfer_ns},
                         std::pair{tr("Copies"), all.memory_ns},
                         std::pair{tr("Idle"), all.idle_ns}};
  if (all.window_ns > 0)
    add(tr("Ranks"), tr("%1, %2 in all").arg(sums.ranks.size()).arg(time_text(nanoseconds{all.window_ns})));
  for (const auto& [name, ns] : parts)
    if (ns > 0)
      add(name, tr("%1 (%2)").arg(time_text(nanoseconds{ns}),
                                  percent_text(static_cast<double>(ns) / static_cast<double>(all.window_ns))));
  std::int64_t calls = 0;
  for (const NameTimes& one : sums.names) calls += one.count;
  add(tr("Events"), tr("%1 of %2").arg(calls).arg(qt_text(counted(sums.names.size(), "name"))));
  if (sums.names.empty()) return;
  Span longest;
  longest.name = sums.names.front().name;
  longest.kind = sums.names.front().kind;
  add(tr("Most own time"), tr("%1: %2").arg(qt_text(short_name_of(*session_.run(), longest)),
                                            time_text(nanoseconds{sums.names.front().own_ns})));
}

}  // namespace rankscope::gui
