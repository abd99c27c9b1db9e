#include "rankscope/gui/models/session/session.h"

#include <algorithm>
#include <utility>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/session/loader.h"

namespace rankscope::gui {
namespace {

/// Shortest range that is shown: below it a pixel is far less than the clock's own unit.
constexpr nanoseconds shortest{20};

/// What is outside of `all`, by more than a tenth of its length and more than `room`, is moved in.
TimeRange clamped(TimeRange range, TimeRange all, nanoseconds room) {
  const nanoseconds margin = std::max(room, all.length() / 10 + nanoseconds{1});
  const TimeRange limits{all.begin - margin, all.end + margin};
  const nanoseconds length = std::clamp(range.length(), std::min(shortest, limits.length()), limits.length());
  const RunTime begin = std::clamp(range.begin, limits.begin, limits.end - length);
  return {begin, begin + length};
}

/// Takes what is in the list out of it, and appends what is not.
template <class Item>
void toggle(std::vector<Item>& list, Item item) {
  const auto found = std::ranges::find(list, item);
  if (found == list.end())
    list.push_back(item);
  else
    list.erase(found);
}

}  // namespace

Session::Session(QObject* parent) : QObject(parent) {
  connect(&loader_, &Loader::progressed, this, &Session::progressed);
  connect(&loader_, &Loader::runRead, this, &Session::take_run);
  connect(&loader_, &Loader::reportMade, this, &Session::take_report);
  connect(&loader_, &Loader::failed, this, &Session::take_failure);
}

void Session::open(Source source) {
  source = with_whole_recordings(std::move(source));
  opening_ = source;
  loader_.start(std::move(source));
  set_state(LoadState::reading);
}

void Session::show(std::shared_ptr<const Run> run) {
  RS_CHECK(run != nullptr);
  opening_ = {};
  take_run(run);
  loader_.start(std::move(run));
}

void Session::cancel() {
  if (!loader_.busy()) return;
  loader_.cancel();
  if (state_ == LoadState::reading) return fall_back();
  set_state(LoadState::ready);
}

void Session::stop() { loader_.cancel(); }

void Session::fall_back() {
  const bool lacks_report = run_ != nullptr && report_ == nullptr;
  if (lacks_report) loader_.start(run_);
  set_state(run_ == nullptr ? LoadState::nothing : lacks_report ? LoadState::analyzing : LoadState::ready);
}

QString Session::why_no_report(const QString& nothing_open) const {
  if (run_ == nullptr) return nothing_open;
  switch (state_) {
    case LoadState::reading:
      return tr("Another recording is being read.");
    case LoadState::analyzing:
      return tr("Analyzing...");
    case LoadState::nothing:
    case LoadState::ready:
      break;
  }
  return tr("The report was cancelled; open the recording again to generate it.");
}

void Session::take_run(std::shared_ptr<const Run> run) {
  run_ = recorded_ = std::move(run);
  source_ = opening_;
  const bool had_report = std::exchange(report_, nullptr) != nullptr;
  selection_.reset();
  const bool had_finding = std::exchange(finding_, std::nullopt).has_value();
  area_.reset();
  pinned_.clear();
  pinned_counters_.clear();
  filter_ = {};
  visible_ = extent();
  set_state(LoadState::analyzing);
  Q_EMIT runOpened();
  Q_EMIT runChanged();
  if (had_report) Q_EMIT reportChanged();
  Q_EMIT selectionChanged();
  if (had_finding) Q_EMIT findingChanged();
  Q_EMIT areaChanged();
  Q_EMIT pinsChanged();
  Q_EMIT filterChanged();
  Q_EMIT visibleRangeChanged();
}

void Session::take_report(std::shared_ptr<const analyzer::Report> report) {
  report_ = std::move(report);
  const bool saw_all = visible_ == extent();
  const bool moved = report_->in_run_time != nullptr && report_->in_run_time != run_;
  if (moved) run_ = report_->in_run_time;
  set_state(LoadState::ready);
  if (moved) {
    Q_EMIT runChanged();
    set_visible(saw_all ? extent() : visible_);
  }
  Q_EMIT reportChanged();
}

void Session::take_failure(const Error& error) {
  fall_back();
  Q_EMIT failed(QString::fromStdString(error.message));
}

void Session::set_state(LoadState state) {
  if (std::exchange(state_, state) != state) Q_EMIT stateChanged();
}

void Session::select(std::optional<SpanId> span) {
  if (std::exchange(selection_, span) != span) Q_EMIT selectionChanged();
}

void Session::select_finding(std::size_t row) {
  RS_CHECK(report_ != nullptr && report_->findings && row < report_->findings->size());
  select_area(std::nullopt);
  select(std::nullopt);
  if (std::exchange(finding_, row) != row) Q_EMIT findingChanged();
}

void Session::clear_finding() {
  if (std::exchange(finding_, std::nullopt)) Q_EMIT findingChanged();
}

void Session::select_area(std::optional<Area> area) {
  if (area_ == area) return;
  area_ = std::move(area);
  Q_EMIT areaChanged();
}

TimeRange Session::extent() const {
  if (run_ == nullptr || run_->extent().empty()) return {at(0), at(1'000'000'000)};
  return run_->extent();
}

void Session::set_visible(TimeRange range) {
  const TimeRange fitting = clamped(range, extent(), room_);
  if (std::exchange(visible_, fitting) != fitting) Q_EMIT visibleRangeChanged();
}

void Session::toggle_pin(LaneId lane) {
  toggle(pinned_, lane);
  Q_EMIT pinsChanged();
}

void Session::toggle_counter_pin(std::uint32_t counter) {
  toggle(pinned_counters_, counter);
  Q_EMIT pinsChanged();
}

void Session::set_filter(Filter filter) {
  if (filter_ == filter) return;
  filter_ = std::move(filter);
  Q_EMIT filterChanged();
}

void Session::go_to(TimeRange time, std::optional<RankId> rank) {
  set_visible(time);
  if (rank) Q_EMIT revealRequested(*rank);
}

void Session::go_to(SpanId span) {
  select_area(std::nullopt);  // the event is what is looked at now
  select(span);
  const TimeRange time = run_->span(span).time;
  const nanoseconds shown = visible_.length();
  const bool seen = !intersect(time, visible_).empty() || visible_.contains(time.begin);
  if (!seen || time.length() > 2 * shown) {
    const nanoseconds length = std::max(shown, time.length() + time.length() / 4);
    const RunTime middle = time.begin + time.length() / 2;
    set_visible({middle - length / 2, middle - length / 2 + length});
  }
  Q_EMIT spanRevealRequested(span);
}

}  // namespace rankscope::gui
