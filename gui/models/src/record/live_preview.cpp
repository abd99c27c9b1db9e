#include "rankscope/gui/models/record/live_preview.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/core/median.h"
#include "rankscope/gui/models/base/words.h"

namespace rankscope::gui {
namespace {

using recording::LiveProcess;
using recording::LiveSplit;
using recording::LiveStep;
using recording::LiveView;

constexpr std::size_t summed_steps = 20;

std::optional<LiveSplit> mean_split(const std::vector<LiveStep>& steps) {
  LiveSplit sum;
  std::int64_t count = 0;
  for (auto step = steps.rbegin(); step != steps.rend() && count < std::ssize(steps); ++step) {
    if (!step->split || count == static_cast<std::int64_t>(summed_steps)) continue;
    ++count;
    sum.compute += step->split->compute;
    sum.communication += step->split->communication;
    sum.copies += step->split->copies;
    sum.data += step->split->data;
    sum.wait += step->split->wait;
    sum.other += step->split->other;
  }
  if (count == 0) return std::nullopt;
  for (nanoseconds* const part : {&sum.compute, &sum.communication, &sum.copies, &sum.data, &sum.wait, &sum.other})
    *part /= count;
  return sum;
}

}  // namespace

LiveSummary summary_of(const LiveProcess& process) {
  LiveSummary summary;
  if (process.last.empty()) return summary;
  summary.last = process.last.back().duration;
  std::vector<std::int64_t> durations_ns;
  for (const LiveStep& step : process.last) durations_ns.push_back(step.duration.count());
  summary.median = nanoseconds{median(durations_ns)};
  summary.split = mean_split(process.last);
  return summary;
}

QString name_of(const LiveProcess& process) {
  if (process.rank >= 0) return qt_text(format("rank {}", process.rank));
  return qt_text(format("{} {}", process.program.empty() ? "pid" : process.program, process.pid));
}

bool is_of_device(std::string_view counter) { return counter != "rss_bytes"; }

std::optional<double> latest(const LiveProcess& process, std::string_view counter) {
  const auto curve = std::ranges::find(process.memory, counter, &recording::LiveCurve::name);
  if (curve == process.memory.end()) return std::nullopt;
  return curve->values.back().value;
}

QString note_of(const LiveView& view) {
  QStringList notes;
  const auto events =
      std::accumulate(view.processes.begin(), view.processes.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const LiveProcess& process) { return sum + process.events; });
  const bool any_step = std::ranges::any_of(view.processes, [](const LiveProcess& one) { return one.steps > 0; });
  if (view.processes.empty() && view.elsewhere == 0)
    notes << QObject::tr("No process has reported anything yet.");
  else if (!any_step)
    notes << QObject::tr("No step has been marked yet (%1).").arg(qt_text(counted(events, "event")));
  if (view.elsewhere > 0)
    notes << QObject::tr("%1 on other hosts: the preview does not show events from those hosts.")
                 .arg(qt_text(counted(view.elsewhere, "recorder")));
  if (view.behind_bytes > 0)
    notes << QObject::tr("The preview still has %1 MB to read.")
                 .arg(static_cast<double>(view.behind_bytes) / 1e6, 0, 'f', 1);
  if (view.left_out > 0) notes << QObject::tr("Not shown: %1.").arg(qt_text(counted(view.left_out, "more process")));
  if (view.unreadable > 0)
    notes << QObject::tr("%1 cannot be read at the moment.").arg(qt_text(counted(view.unreadable, "process")));
  return notes.join(QLatin1Char{' '});
}

LivePreview::LivePreview(std::chrono::milliseconds every, QObject* parent)
    : QObject(parent), view_(std::make_shared<const LiveView>()) {
  timer_.setInterval(every);
  connect(&timer_, &QTimer::timeout, this, &LivePreview::look);
}

void LivePreview::start(const std::filesystem::path& recording) {
  job_.cancel();
  reader_ = std::make_shared<recording::LiveReader>(recording);
  view_ = std::make_shared<const LiveView>();
  is_last_ = false;
  timer_.start();
  Q_EMIT changed();
}

void LivePreview::finish() {
  if (reader_ == nullptr) return;
  is_last_ = true;
  look();
}

void LivePreview::look() {
  if (job_.busy() && !is_last_) return;  // it takes longer than the period
  if (is_last_) timer_.stop();
  job_.start([this, reader = reader_](const std::stop_token&) -> LatestJob::Delivery {
    auto view = std::make_shared<const LiveView>(reader->poll());
    return [this, view = std::move(view)]() mutable {
      view_ = std::move(view);
      if (is_last_) reader_.reset();
      Q_EMIT changed();
    };
  });
}

}  // namespace rankscope::gui
