#include "rankscope/gui/models/timeline/navigator.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/models/base/words.h"
#include "rankscope/gui/models/report/findings_model.h"
#include "rankscope/gui/models/session/moments.h"
#include "rankscope/gui/models/timeline/flows.h"

namespace rankscope::gui {
namespace {

/// With a tenth of its length on both sides.
TimeRange with_margin(TimeRange range) {
  const nanoseconds margin = range.length() / 10 + nanoseconds{1};
  return {range.begin - margin, range.end + margin};
}

std::string in_lower_case(std::string_view text) {
  std::string lower{text};
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

/// "0, 2, 3", of many the first ones.
QString numbers_text(const std::set<RankId>& ranks) {
  constexpr std::size_t most = 8;
  QStringList numbers;
  for (const RankId rank : ranks) {
    if (static_cast<std::size_t>(numbers.size()) == most) break;
    numbers.push_back(QString::number(rank.value));
  }
  const QString text = numbers.join(QStringLiteral(", "));
  return ranks.size() <= most ? text : Navigator::tr("%1 and %2 more").arg(text).arg(ranks.size() - most);
}

}  // namespace

Navigator::Navigator(Session& session, const TimelineModel& model, QObject* parent)
    : QObject(parent), session_(session), model_(model) {
  connect(&session, &Session::runOpened, this, [this] {
    history_.clear();
    mark_place_.reset();
    marks_.clear();
    Q_EMIT marksChanged();
    find_lit();
  });
  connect(&session, &Session::filterChanged, this, &Navigator::find_lit);
  connect(&session, &Session::runChanged, this, &Navigator::find_hits);  // at other times
}

void Navigator::move_to(TimeRange range, std::string_view kind) {
  const TimeRange from = session_.visible();
  session_.set_visible(range);
  if (session_.visible() != from) history_.leave(from, kind);
}

void Navigator::zoom(double factor, double x) { move_to(scale().zoomed(factor, x), "zoom"); }
void Navigator::pan(double pixels) { move_to(scale().panned(pixels), "pan"); }
void Navigator::show(TimeRange range) { move_to(range, {}); }

void Navigator::centre(RunTime middle) {
  const TimeRange all = session_.extent();
  const nanoseconds length = session_.visible().length();
  if (length >= all.length()) return;
  const RunTime begin = std::clamp(middle - length / 2, all.begin, all.end - length);
  show({begin, begin + length});
}

void Navigator::back() {
  const auto range = history_.back(session_.visible());
  range ? session_.set_visible(*range) : Q_EMIT said(tr("There is no earlier view."));
}

void Navigator::forward() {
  const auto range = history_.forward(session_.visible());
  range ? session_.set_visible(*range) : Q_EMIT said(tr("There is no later view."));
}

std::optional<TimeRange> Navigator::selected_time() const {
  if (session_.area()) return session_.area()->time;
  if (session_.selection() && session_.run() != nullptr) return session_.run()->span(*session_.selection()).time;
  return std::nullopt;
}

bool Navigator::has_event() {
  if (facts() != nullptr && session_.selection()) return true;
  Q_EMIT said(facts() != nullptr ? tr("Select an event first.") : tr("Nothing is open."));
  return false;
}

bool Navigator::has_run() {
  if (facts() == nullptr) Q_EMIT said(tr("Nothing is open."));
  return facts() != nullptr;
}

void Navigator::focus_selection() {
  const auto selected = selected_time();
  if (!selected) return Q_EMIT said(tr("Select an event or a time range first."));
  const TimeRange visible = session_.visible();
  const RunTime begin = selected->begin + selected->length() / 2 - visible.length() / 2;
  const bool centred = std::chrono::abs(begin - visible.begin) <= visible.length() / 1000;
  if (centred) return zoom_to_selection();
  show({begin, begin + visible.length()});
}

void Navigator::zoom_to_selection() {
  const auto selected = selected_time();
  selected ? show(with_margin(*selected)) : Q_EMIT said(tr("Select an event or a time range first."));
}

RunTime Navigator::here() const {
  if (session_.selection() && session_.run() != nullptr) return session_.run()->span(*session_.selection()).time.begin;
  return session_.visible().begin + session_.visible().length() / 2;
}

/// Of the selected span, else that which the finding is about, else the first one that is shown.
RankId Navigator::rank_here() const {
  const Run& run = *session_.run();
  if (session_.selection()) return run.lane(run.span(*session_.selection()).lane).rank;
  if (session_.finding() && session_.report() != nullptr && session_.report()->findings)
    if (const auto rank = (*session_.report()->findings)[*session_.finding()].rank) return *rank;
  if (!session_.filter().ranks.empty()) return session_.filter().ranks.front();
  return run.ranks().empty() ? RankId{} : run.ranks().front();
}

void Navigator::go(std::optional<SpanId> span, const QString& nothing) {
  if (!span) return Q_EMIT said(nothing);
  const TimeRange from = session_.visible();
  session_.go_to(*span);
  if (session_.visible() != from) history_.leave(from, "event");
}

void Navigator::next_event(Direction direction) {
  if (!has_event()) return;
  go(next_in_lane(*facts(), *session_.selection(), direction), direction == Direction::forward
                                                                   ? tr("This is the last event of its row.")
                                                                   : tr("This is the first event of its row."));
}

void Navigator::next_same_name(Direction direction) {
  if (has_event())
    go(next_of_name(*facts(), *session_.selection(), direction),
       tr("There are no more events with this name in that direction."));
}

void Navigator::next_rank(Direction direction) {
  if (has_event())
    go(same_on_next_rank(*facts(), *session_.selection(), direction), direction == Direction::forward
                                                                          ? tr("No higher rank has this operation.")
                                                                          : tr("No lower rank has this operation."));
}

void Navigator::next_collective(Direction direction) {
  if (!has_run()) return;
  const RankId rank = rank_here();
  go(gui::next_collective(*facts(), rank, here(), direction),
     tr("Rank %1 has no more communication in that direction.").arg(rank.value));
}

void Navigator::next_match(Direction direction) {
  if (!has_run()) return;
  if (lit_ == nullptr) return Q_EMIT said(tr("Search for a name first."));
  const TimeRange shown = session_.visible();
  const RunTime edge = direction == Direction::forward ? shown.begin - nanoseconds{1} : shown.end;
  go(next_lit(*facts(), *lit_, session_.filter().ranks, session_.selection() ? here() : edge, direction),
     tr("There are no more matches in that direction."));
}

void Navigator::follow_flow(Direction direction) {
  if (has_event())
    go(flow_neighbour(*facts(), *session_.selection(), direction), tr("No arrow leads in that direction."));
}

void Navigator::next_step(Direction direction) {
  if (!has_run()) return;
  if (facts()->report == nullptr || !facts()->report->steps) return Q_EMIT said(tr("The steps are not known."));
  const RunTime middle = session_.visible().begin + session_.visible().length() / 2;
  const auto& steps = facts()->report->steps->steps;
  const analyzer::Step* best = nullptr;
  for (const analyzer::Step& step : steps) {
    const RunTime centre = step.time.begin + step.time.length() / 2;
    const bool ahead =
        direction == Direction::forward ? centre > middle + nanoseconds{1} : centre < middle - nanoseconds{1};
    if (!ahead) continue;
    const auto distance = [&](const analyzer::Step& one) {
      return std::chrono::abs(one.time.begin + one.time.length() / 2 - middle);
    };
    if (best == nullptr || distance(step) < distance(*best)) best = &step;
  }
  if (best == nullptr)
    return Q_EMIT said(direction == Direction::forward ? tr("There is no later step.")
                                                       : tr("There is no earlier step."));
  show(with_margin(best->time));
}

void Navigator::next_finding(Direction direction) {
  const auto& report = session_.report();
  if (report == nullptr || !report->findings || report->findings->empty())
    return Q_EMIT said(tr("There are no findings to go to."));
  const std::size_t count = report->findings->size();
  std::size_t row = direction == Direction::forward ? 0 : count - 1;
  if (const auto last = session_.finding()) row = (*last + (direction == Direction::forward ? 1 : count - 1)) % count;
  session_.select_finding(row);
  const TimeRange from = session_.visible();
  const Place place = place_of((*report->findings)[row], *report, session_.extent());
  session_.go_to(place.time, place.rank);
  if (session_.visible() != from) history_.leave(from, {});
}

std::optional<RankId> Navigator::show_critical_path() {
  if (!has_run()) return std::nullopt;
  const analyzer::Report* const report = facts()->report.get();
  if (report == nullptr || !report->critical_path || report->critical_path->drawn.empty()) {
    Q_EMIT said(tr("The critical path of this run is not known."));
    return std::nullopt;
  }
  const auto& path = *report->critical_path;
  const auto& chosen = session_.filter().ranks;
  std::vector<analyzer::PathStretch> drawn = path.drawn;
  std::set<RankId> left_out;
  std::erase_if(drawn, [&](const analyzer::PathStretch& one) {
    const bool is_left_out = !chosen.empty() && std::ranges::find(chosen, one.rank) == chosen.end();
    if (is_left_out) left_out.insert(one.rank);
    return is_left_out;
  });
  if (drawn.empty()) {
    Q_EMIT said(tr("The critical path is only on ranks that are not shown: %1.").arg(numbers_text(left_out)));
    return std::nullopt;
  }
  const auto begin_of = [](const analyzer::PathStretch& one) { return one.time.begin; };
  const auto end_of = [](const analyzer::PathStretch& one) { return one.time.end; };
  const auto seen = [this](const analyzer::PathStretch& one) {
    return !intersect(one.time, session_.visible()).empty();
  };
  if (!std::ranges::any_of(drawn, seen))
    show(with_margin({std::ranges::min(drawn, {}, begin_of).time.begin, std::ranges::max(drawn, {}, end_of).time.end}));
  QString sentence = path.whole_recording ? tr("The critical path is shown.")
                                          : tr("The critical path of step %1 is shown.").arg(path.drawn_step);
  if (!left_out.empty())
    sentence += tr(" Parts of it are on ranks that are not shown: %1.").arg(numbers_text(left_out));
  Q_EMIT said(sentence);
  std::map<RankId, nanoseconds> on;
  for (const analyzer::PathStretch& one : drawn) on[one.rank] += one.time.length();
  return std::ranges::max_element(on, {}, &std::pair<const RankId, nanoseconds>::second)->first;
}

void Navigator::select_step() {
  if (!has_run()) return;
  const RankId rank = rank_here();
  const auto* const step = step_at(facts()->report.get(), rank, here());
  if (step == nullptr)
    return Q_EMIT said(rank.is_set() ? tr("Rank %1 has no step at this time.").arg(rank.value)
                                     : tr("No step was recorded at this time."));
  session_.select_area(area_of_step(*session_.run(), *step));
}

void Navigator::select_all() {
  if (session_.run() == nullptr) return;
  Area area{session_.extent(), {}};
  const auto& ranks = session_.filter().ranks;
  for (const Lane& lane : session_.run()->lanes())
    if (ranks.empty() || std::ranges::find(ranks, lane.rank) != ranks.end())
      area.lanes.push_back(session_.run()->id_of(lane));
  session_.select_area(std::move(area));
}

void Navigator::clear() {
  if (!session_.area() && !session_.selection()) {
    if (session_.finding()) return session_.clear_finding();
    Filter filter = session_.filter();
    filter.text.clear();
    return session_.set_filter(std::move(filter));
  }
  session_.select_area(std::nullopt);
  session_.select(std::nullopt);
}

void Navigator::mark_selection(bool keep) {
  const auto selected = selected_time();
  if (!selected) return Q_EMIT said(tr("Select an event or a time range first."));
  std::erase_if(marks_, [](const TimeMark& mark) { return !mark.kept; });
  marks_.push_back({*selected, keep, {}});
  Q_EMIT marksChanged();
}

void Navigator::remove_mark() {
  if (marks_.empty()) return Q_EMIT said(tr("There are no marks."));
  marks_.pop_back();
  Q_EMIT marksChanged();
}

/// That of the selection, else the one made last.
std::optional<std::size_t> Navigator::mark_here() const {
  const auto selected = selected_time();
  if (!selected) return marks_.empty() ? std::nullopt : std::optional{marks_.size() - 1};
  const auto found = std::ranges::find(marks_, *selected, &TimeMark::time);
  return found == marks_.end() ? std::nullopt : std::optional{static_cast<std::size_t>(found - marks_.begin())};
}

std::optional<std::string> Navigator::note_here() const {
  if (const auto mark = mark_here()) return marks_[*mark].note;
  return selected_time() ? std::optional{std::string{}} : std::nullopt;
}

void Navigator::note(std::string text) {
  if (!note_here()) return;
  if (!mark_here()) mark_selection(true);
  TimeMark& mark = marks_[*mark_here()];
  mark.kept = true;
  mark.note = std::move(text);
  Q_EMIT marksChanged();
}

void Navigator::set_marks(std::vector<TimeMark> marks) {
  if (marks_ == marks) return;
  marks_ = std::move(marks);
  Q_EMIT marksChanged();
}

/// The zoom stays unless the mark is not to be seen in it.
void Navigator::next_mark(Direction direction) {
  const auto middle_of = [](TimeRange time) { return time.begin + time.length() / 2; };
  const bool counts = mark_place_ && mark_place_->visible == session_.visible();
  const RunTime middle = counts ? mark_place_->middle : middle_of(session_.visible());
  const TimeMark* best = nullptr;
  for (const TimeMark& mark : marks_) {
    const nanoseconds ahead =
        direction == Direction::forward ? middle_of(mark.time) - middle : middle - middle_of(mark.time);
    const bool nearer = best == nullptr || ahead < std::chrono::abs(middle_of(best->time) - middle);
    if (ahead > nanoseconds{1} && nearer) best = &mark;
  }
  if (marks_.empty()) return Q_EMIT said(tr("There are no marks."));
  if (best == nullptr)
    return Q_EMIT said(direction == Direction::forward ? tr("There is no later mark.")
                                                       : tr("There is no earlier mark."));
  show_mark(*best);
}

void Navigator::go_to_mark(std::size_t place) {
  if (place < marks_.size()) show_mark(marks_[place]);
}

void Navigator::show_mark(const TimeMark& mark) {
  const RunTime middle = mark.time.begin + mark.time.length() / 2;
  mark.time.length() > session_.visible().length() / 2 ? show(with_margin(mark.time)) : centre(middle);
  mark_place_ = {middle, session_.visible()};
  const QString place = time_text(mark.time.begin - session_.extent().begin);
  Q_EMIT said(mark.note.empty() ? tr("Mark at %1.").arg(place) : tr("Mark at %1: %2").arg(place, qt_text(mark.note)));
}

void Navigator::find_lit() {
  const std::string& text = session_.filter().text;
  std::shared_ptr<std::vector<bool>> lit;
  if (!text.empty() && session_.run() != nullptr) {
    const StringTable& strings = session_.run()->strings();
    const std::string wanted = in_lower_case(text);
    lit = std::make_shared<std::vector<bool>>(strings.size());
    for (std::uint32_t id = 0; id < strings.size(); ++id)
      (*lit)[id] = in_lower_case(strings.text(StringId{id})).find(wanted) != std::string::npos;
  }
  lit_ = std::move(lit);
  find_hits();
  Q_EMIT litChanged();
}

void Navigator::find_hits() {
  hits_.reset();
  hits_job_.cancel();
  if (lit_ == nullptr) return;
  hits_job_.start([this, run = session_.run(), lit = lit_](const std::stop_token& stop) -> LatestJob::Delivery {
    auto times = hit_times(*run, *lit, stop);
    if (!times) return {};
    return [this, hits = std::make_shared<const HitTimes>(*std::move(times))] {
      hits_ = hits;
      Q_EMIT litChanged();
    };
  });
}

}  // namespace rankscope::gui
