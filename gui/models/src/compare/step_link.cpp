#include "rankscope/gui/models/compare/step_link.h"

#include <algorithm>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/median.h"

namespace rankscope::gui {

std::vector<StepPair> common_steps(const analyzer::Report& a, const analyzer::Report& b) {
  std::vector<StepPair> pairs;
  if (!a.steps || !b.steps) return pairs;
  const auto& others = b.steps->steps;
  for (const analyzer::Step& step : a.steps->steps) {
    const auto other = std::ranges::lower_bound(others, step.index, {}, &analyzer::Step::index);
    if (other != others.end() && other->index == step.index) pairs.push_back({step.index, step.time, other->time});
  }
  return pairs;
}

StepLink::StepLink(Session& a, Session& b, QObject* parent) : QObject(parent), a_(a), b_(b) {
  for (Session* const session : {&a, &b}) {
    connect(session, &Session::runOpened, this, &StepLink::reload);
    connect(session, &Session::reportChanged, this, &StepLink::reload);
  }
  connect(&a, &Session::visibleRangeChanged, this, [this] { follow(From::a); });
  connect(&b, &Session::visibleRangeChanged, this, [this] { follow(From::b); });
  reload();
}

void StepLink::reload() {
  a_.set_room(b_.extent().length());
  b_.set_room(a_.extent().length());
  steps_ = a_.report() != nullptr && b_.report() != nullptr ? common_steps(*a_.report(), *b_.report())
                                                            : std::vector<StepPair>{};
  if (a_.run() == nullptr || b_.run() == nullptr) return;
  // Where all of A is seen, so is all of B.
  const bool b_leads = a_.visible() == a_.extent() && b_.extent().length() > a_.extent().length();
  if (b_leads) b_.fit_all();
  follow(b_leads ? From::b : From::a);
}

/// What is added to times of one run to get those of the other.
nanoseconds StepLink::offset_at(From from, RunTime moment) const {
  const auto begin_of = [from](const StepPair& step) { return from == From::a ? step.a.begin : step.b.begin; };
  nanoseconds offset = b_.extent().begin - a_.extent().begin;
  if (!steps_.empty()) {
    const auto after = std::ranges::upper_bound(steps_, moment, {}, begin_of);
    const StepPair& step = after == steps_.begin() ? steps_.front() : *std::prev(after);
    offset = step.b.begin - step.a.begin;
  }
  return from == From::a ? offset : -offset;
}

void StepLink::follow(From from) {
  if (following_ || a_.run() == nullptr || b_.run() == nullptr) return;
  following_ = true;
  const TimeRange seen = (from == From::a ? a_ : b_).visible();
  const nanoseconds offset = offset_at(from, seen.begin + seen.length() / 2);
  (from == From::a ? b_ : a_).set_visible({seen.begin + offset, seen.end + offset});
  following_ = false;
}

const StepPair* StepLink::usual_step() const {
  std::vector<const StepPair*> counted;
  for (const StepPair& step : steps_)
    if (a_.report()->steps->counted(step.index) && b_.report()->steps->counted(step.index)) counted.push_back(&step);
  if (counted.empty()) return nullptr;
  std::vector<std::int64_t> lengths_ns;
  for (const StepPair* const step : counted) lengths_ns.push_back(step->a.length().count());
  return counted[median_row(lengths_ns)];
}

/// As wide as the longer one, with a tenth on both sides.
void StepLink::show(const StepPair& step) {
  const nanoseconds length = std::max(step.a.length(), step.b.length());
  a_.set_visible({step.a.begin - length / 10, step.a.begin + length + length / 10});
}

}  // namespace rankscope::gui
