#include "rankscope/gui/models/navigator.h"

#include <algorithm>
#include <cctype>

#include "rankscope/gui/models/findings_model.h"
#include "rankscope/gui/models/flows.h"

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

}  // namespace

Navigator::Navigator(Session& session, const TimelineModel& model, QObject* parent)
    : QObject(parent), session_(session), model_(model) {
  connect(&session, &Session::runOpened, this, [this] {
    history_.clear();
    finding_.reset();
    marks_.clear();
    Q_EMIT marksChanged();
    find_lit();
  });
  connect(&session, &Session::filterChanged, this, &Navigator::find_lit);
}

void Navigator::move_to(TimeRange range, std::string_view kind) {
  const TimeRange from = session_.visible();
  session_.set_visible(range);
  if (session_.visible() != from) history_.leave(from, kind);
}

void Navigator::zoom(double factor, double x) { move_to(scale().zoomed(factor, x), "zoom"); }
void Navigator::pan(double pixels) { move_to(scale().panned(pixels), "pan"); }
void Navigator::show(TimeRange range) { move_to(range, {}); }

void Navigator::back() {
  if (const auto range = history_.back(session_.visible())) session_.set_visible(*range);
}

void Navigator::forward() {
  if (const auto range = history_.forward(session_.visible())) session_.set_visible(*range);
}

std::optional<TimeRange> Navigator::selected_time() const {
  if (session_.area()) return session_.area()->time;
  if (session_.selection() && session_.run() != nullptr) return session_.run()->span(*session_.selection()).time;
  return std::nullopt;
}

void Navigator::focus_selection() {
  const auto selected = selected_time();
  if (!selected) return;
  const TimeRange visible = session_.visible();
  const RunTime begin = selected->begin + selected->length() / 2 - visible.length() / 2;
  const bool centred = std::chrono::abs(begin - visible.begin) <= visible.length() / 1000;
  if (centred) return zoom_to_selection();
  show({begin, begin + visible.length()});
}

void Navigator::zoom_to_selection() {
  if (const auto selected = selected_time()) show(with_margin(*selected));
}

RunTime Navigator::here() const {
  if (session_.selection() && session_.run() != nullptr) return session_.run()->span(*session_.selection()).time.begin;
  return session_.visible().begin + session_.visible().length() / 2;
}

/// Of the selected span, else the first one that is shown.
RankId Navigator::rank_here() const {
  const Run& run = *session_.run();
  if (session_.selection()) return run.lane(run.span(*session_.selection()).lane).rank;
  if (!session_.filter().ranks.empty()) return session_.filter().ranks.front();
  return run.ranks().empty() ? RankId{} : run.ranks().front();
}

void Navigator::go(std::optional<SpanId> span) {
  if (!span) return;
  const TimeRange from = session_.visible();
  session_.select_area(std::nullopt);
  session_.go_to(*span);
  if (session_.visible() != from) history_.leave(from, "event");
}

void Navigator::next_event(Direction direction) {
  if (facts() != nullptr && session_.selection()) go(next_in_lane(*facts(), *session_.selection(), direction));
}

void Navigator::next_same_name(Direction direction) {
  if (facts() != nullptr && session_.selection()) go(next_of_name(*facts(), *session_.selection(), direction));
}

void Navigator::next_rank(Direction direction) {
  if (facts() != nullptr && session_.selection()) go(same_on_next_rank(*facts(), *session_.selection(), direction));
}

void Navigator::next_collective(Direction direction) {
  if (facts() != nullptr) go(gui::next_collective(*facts(), rank_here(), here(), direction));
}

void Navigator::next_match(Direction direction) {
  if (facts() != nullptr && lit_ != nullptr) go(next_lit(*facts(), *lit_, here(), direction));
}

void Navigator::follow_flow(Direction direction) {
  if (facts() != nullptr && session_.selection()) go(flow_neighbour(*facts(), *session_.selection(), direction));
}

void Navigator::next_step(Direction direction) {
  if (facts() == nullptr || facts()->report == nullptr || !facts()->report->steps) return;
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
  if (best != nullptr) show(with_margin(best->time));
}

void Navigator::next_finding(Direction direction) {
  const auto& report = session_.report();
  if (report == nullptr || !report->findings || report->findings->empty()) return;
  const std::size_t count = report->findings->size();
  if (!finding_)
    finding_ = direction == Direction::forward ? 0 : count - 1;
  else
    finding_ = (*finding_ + (direction == Direction::forward ? 1 : count - 1)) % count;
  const TimeRange from = session_.visible();
  const Place place = place_of((*report->findings)[*finding_], *report, session_.extent());
  session_.go_to(place.time, place.rank);
  if (session_.visible() != from) history_.leave(from, {});
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
  session_.select_area(std::nullopt);
  session_.select(std::nullopt);
}

void Navigator::mark_selection(bool keep) {
  const auto selected = selected_time();
  if (!selected) return;
  std::erase_if(marks_, [](const TimeMark& mark) { return !mark.kept; });
  marks_.push_back({*selected, keep, {}});
  Q_EMIT marksChanged();
}

void Navigator::remove_mark() {
  if (marks_.empty()) return;
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
  const RunTime middle = middle_of(session_.visible());
  const TimeMark* best = nullptr;
  for (const TimeMark& mark : marks_) {
    const nanoseconds ahead =
        direction == Direction::forward ? middle_of(mark.time) - middle : middle - middle_of(mark.time);
    const bool nearer = best == nullptr || ahead < std::chrono::abs(middle_of(best->time) - middle);
    if (ahead > nanoseconds{1} && nearer) best = &mark;
  }
  if (best == nullptr) return;
  const nanoseconds length = session_.visible().length();
  if (best->time.length() > length / 2) return show(with_margin(best->time));
  const RunTime begin = middle_of(best->time) - length / 2;
  show({begin, begin + length});
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
  Q_EMIT litChanged();
}

}  // namespace rankscope::gui
