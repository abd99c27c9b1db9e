#include "hang/judge.h"

#include <algorithm>
#include <csignal>
#include <map>
#include <optional>
#include <tuple>

#include "hang/clauses.h"
#include "hang/mismatch.h"
#include "hang/root_words.h"
#include "hang/wait_graph.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer::hang {
namespace {

constexpr std::int64_t just_begun_ns = 3'000'000'000;  // an operation of this age is no hang yet
constexpr std::int64_t late_ns = 10'000'000'000;       // a rank that comes this much later is a straggler
constexpr std::int64_t half_of_a_timeout_ms_to_ns = 500'000;

/// When the members called an operation, as far as it is recorded.
struct Arrivals {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t timeout_ms = 0;
  std::map<std::uint32_t, std::int64_t> at{};
};

Arrivals arrivals_of(const JobProgress& job, const WaitedOperation& operation) {
  Arrivals arrivals;
  for (const std::uint32_t rank : operation.waiting) {
    const RankProgress& progress = job.ranks.at(rank);
    const auto call = std::ranges::find_if(progress.open, [&](const CommCall& one) {
      return one.group == operation.call.group && one.sequence == operation.call.sequence;
    });
    if (call == progress.open.end() || call->created_unix_ns <= 0) continue;
    arrivals.at[rank] = call->created_unix_ns;
    arrivals.timeout_ms = std::max(arrivals.timeout_ms, call->timeout_ms);
    arrivals.last = std::max(arrivals.last, call->created_unix_ns);
    if (arrivals.first == 0 || call->created_unix_ns < arrivals.first) arrivals.first = call->created_unix_ns;
  }
  return arrivals;
}

/// How long ranks had waited when their inputs were written.
enum class Wait : std::uint8_t {
  short_yet,  ///< within seconds of the last call: a job that works looks like this, too
  long_since,
  unknown,  ///< a file is older than the last call: it was copied, or another host's clock dates it
};
Wait wait_of(const JobProgress& job, const WaitedOperation& operation, const Arrivals& arrivals) {
  if (arrivals.last <= 0) return Wait::long_since;
  bool all_short = true;
  for (const std::uint32_t rank : operation.waiting) {
    const RankProgress& progress = job.ranks.at(rank);
    const std::int64_t written = progress.written_unix_ns;
    if (progress.witness == Witness::dump && written > 0 && written < arrivals.last) return Wait::unknown;
    all_short = all_short && written > 0 && written - arrivals.last < just_begun_ns;
  }
  return all_short ? Wait::short_yet : Wait::long_since;
}

bool ended_alike(const JobProgress& job, std::uint32_t one, std::uint32_t other) {
  const auto how = [&job](std::uint32_t rank) {
    const EndOfProcess& end = job.ranks.at(rank).end;
    return std::tuple(end.life, end.signal, end.exit_status, end.note);
  };
  return how(one) == how(other);
}

/// True if the program ended the process itself, as libraries do when they notice an error.
bool gave_up(const EndOfProcess& end) {
  return end.life == Life::signalled ? end.signal == SIGABRT : end.life == Life::exited && end.exit_status != 0;
}

/// True if the dump shows how far the rank came in the group: the ring may have lost all calls of it.
bool remembers(const RankProgress& progress, const WaitedOperation& operation) {
  if (progress.whole_history || operation.call.way != CallWay::collective) return progress.whole_history;
  const GroupProgress* const row = progress.in_group(operation.call.group);
  return row != nullptr && row->entered >= 0;
}

class Judge {
 public:
  explicit Judge(const JobProgress& job) : job_(job), graph_(job) {}

  HangReport report() {
    for (const WaitRoot& root : graph_.roots()) add(root);
    for (auto& found : found_) report_.roots.push_back(finished(found));
    for (HangRoot& root : report_.roots)
      if (root.kind != HangKind::dead) root.certainty = std::max(root.certainty, most_certain());
    std::ranges::stable_sort(report_.roots, {},
                             [](const HangRoot& root) { return std::tuple(root.certainty, root.ranks); });
    add_waiting();
    decide();
    report_.world_size = job_.world_size;
    report_.inputs = static_cast<std::int64_t>(job_.inputs);
    for (const InputTrouble& trouble : job_.troubles)
      report_.losses.push_back({trouble.counter, trouble.where, trouble.why});
    return std::move(report_);
  }

 private:
  void add(const WaitRoot& root);
  void add_rank(std::uint32_t rank);
  void add_alive(FoundRoot& found, const RankProgress& progress) const;
  void add_operation(const WaitedOperation& operation);
  void add_cycle(const WaitRoot& root);
  /// Ranks that did the same in the same operation are one root.
  void add_found(FoundRoot found);
  [[nodiscard]] HangRoot finished(const FoundRoot& found) const { return root_in_words(job_, graph_, found); }
  /// Of what follows from calls that were not recorded.
  [[nodiscard]] HangCertainty most_certain() const;
  [[nodiscard]] HangKind kind_of(const RankProgress& progress) const;
  void add_waiting();
  void decide();

  const JobProgress& job_;
  WaitGraph graph_;
  std::vector<FoundRoot> found_;
  HangReport report_;
  bool running_ = false;
  std::vector<std::uint32_t> unknown_partner_;  // ranks in a send or receive whose other side is not recorded
};

void Judge::add(const WaitRoot& root) {
  if (root.ranks.size() > 1) return add_cycle(root);
  if (root.operations.empty()) return add_rank(root.ranks.front());
  for (const std::uint32_t row : root.operations) add_operation(graph_.operations()[row]);
}

void Judge::add_found(FoundRoot found) {
  const auto same = std::ranges::find_if(found_, [&](const FoundRoot& other) {
    if (found.kind == HangKind::dead)
      return other.kind == found.kind && ended_alike(job_, other.ranks.front(), found.ranks.front());
    return other.kind == found.kind && other.operation == found.operation && other.certainty == found.certainty &&
           other.if_it_did_not_move == found.if_it_did_not_move && other.mismatch.empty() && found.mismatch.empty() &&
           found.kind != HangKind::stuck_outside;
  });
  if (same == found_.end()) return found_.push_back(std::move(found)), void();
  same->ranks.insert(same->ranks.end(), found.ranks.begin(), found.ranks.end());
  std::ranges::sort(same->ranks);
}

HangCertainty Judge::most_certain() const {
  switch (job_.completeness) {
    case Completeness::whole:
      return HangCertainty::fact;
    case Completeness::events_lost:
      return HangCertainty::likely;
    case Completeness::counts_lost:
      return HangCertainty::guess;
  }
  return HangCertainty::guess;
}

HangKind Judge::kind_of(const RankProgress& progress) const {
  const LastPlace& place = progress.place;
  const bool known = !place.range.empty() || !place.stack.empty() || !place.host.empty();
  return known ? HangKind::stuck_outside : HangKind::never_came;
}

void Judge::add_rank(std::uint32_t rank) {
  FoundRoot found{.ranks = {rank}, .operation = graph_.most_waited_for(rank)};
  if (found.operation == nullptr) return;  // nobody waits for it
  const auto known = job_.ranks.find(rank);
  if (known != job_.ranks.end() && has_ended(known->second)) {
    // A library that notices that calls do not fit ends the process itself.
    if (gave_up(known->second.end) && find_mismatch(job_, *found.operation)) return add_operation(*found.operation);
    found.kind = HangKind::dead;
    const bool by_hearsay = known->second.end.life == Life::vanished && known->second.witness != Witness::recording;
    found.certainty = by_hearsay ? HangCertainty::likely : HangCertainty::fact;
  } else if (known == job_.ranks.end() || known->second.witness == Witness::nothing) {
    found.kind = HangKind::no_dump;
    found.certainty = HangCertainty::guess;
  } else {
    const Wait wait = wait_of(job_, *found.operation, arrivals_of(job_, *found.operation));
    if (wait == Wait::short_yet) return running_ = true, void();
    add_alive(found, known->second);
    if (wait == Wait::unknown)
      found.if_it_did_not_move = true, found.certainty = std::max(found.certainty, HangCertainty::likely);
  }
  add_found(std::move(found));
}

void Judge::add_alive(FoundRoot& found, const RankProgress& progress) const {
  const CommGroup& group = job_.groups[found.operation->call.group];
  if (graph_.is_behind_its_peers(found.ranks.front()) && !group.on_host) {
    found.kind = HangKind::device;
    found.certainty = HangCertainty::likely;
    return;
  }
  // What it does outside of communication is of interest only if it is there.
  found.kind = progress.open.empty() ? kind_of(progress) : HangKind::never_came;
  const bool gap = progress.witness == Witness::dump && (group.on_host || !remembers(progress, *found.operation));
  found.certainty = progress.witness == Witness::ras ? HangCertainty::guess
                    : gap || !progress.open.empty()  ? HangCertainty::likely
                                                     : HangCertainty::fact;
}

void Judge::add_operation(const WaitedOperation& operation) {
  FoundRoot found{.operation = &operation};
  if (operation.call.way != CallWay::collective && operation.members.size() < 2)
    return unknown_partner_.insert(unknown_partner_.end(), operation.waiting.begin(), operation.waiting.end()), void();
  if (const auto mismatch = find_mismatch(job_, operation)) {
    found.kind = mismatch->kind;
    found.ranks = mismatch->odd;
    found.mismatch = mismatch->what;
    found.mismatched_call = mismatch->call;
    found.certainty = mismatch->told_apart ? HangCertainty::fact : HangCertainty::likely;
    return add_found(std::move(found));
  }
  const Arrivals arrivals = arrivals_of(job_, operation);
  // Whoever of the others is the missing member, it waits for these ranks.
  const bool partly_known =
      operation.call.way == CallWay::collective && !job_.groups[operation.call.group].members_recorded;
  if (partly_known && graph_.all_others_wait(operation)) {
    found.kind = HangKind::cycle;
    found.ranks = operation.waiting;
    found.certainty = HangCertainty::likely;
    found.cycle = {&operation};
    return add_found(std::move(found));
  }
  const Wait wait = wait_of(job_, operation, arrivals);
  if (wait == Wait::short_yet) {
    running_ = true;
    return;
  }
  const std::int64_t spread = arrivals.last - arrivals.first;
  const std::int64_t limit =
      arrivals.timeout_ms > 0 ? std::max(late_ns, arrivals.timeout_ms * half_of_a_timeout_ms_to_ns) : 3 * late_ns;
  if (arrivals.at.size() > 1 && spread >= limit) {
    found.kind = HangKind::straggler;
    found.late_by_ns = spread;
    found.certainty = HangCertainty::likely;
    for (const auto& [rank, at] : arrivals.at)
      if (at - arrivals.first > spread / 2) found.ranks.push_back(rank);
    return add_found(std::move(found));
  }
  found.if_it_did_not_move = wait == Wait::unknown;
  found.kind = HangKind::link;
  found.ranks = operation.waiting;
  found.certainty = HangCertainty::guess;
  add_found(std::move(found));
}

void Judge::add_cycle(const WaitRoot& root) {
  bool explained = false;
  for (const std::uint32_t row : root.operations) {
    const WaitedOperation& operation = graph_.operations()[row];
    const auto mismatch = find_mismatch(job_, operation);
    // Another size matters only once all have come.
    const bool all_came = graph_.was_called_by_all(operation);
    if (!all_came && (!mismatch || mismatch->kind != HangKind::order)) continue;
    explained = true;
    add_operation(operation);
  }
  if (explained) return;
  const bool sure =
      std::ranges::none_of(root.ranks, [this](std::uint32_t r) { return graph_.may_be_blocked_later(r); });
  FoundRoot found{
      .kind = HangKind::cycle, .ranks = root.ranks, .certainty = sure ? HangCertainty::fact : HangCertainty::likely};
  for (const std::uint32_t row : root.operations) found.cycle.push_back(&graph_.operations()[row]);
  found.operation = found.cycle.front();
  add_found(std::move(found));
}

void Judge::add_waiting() {
  for (const WaitedOperation& operation : graph_.operations()) {
    const bool is_root = std::ranges::any_of(
        found_, [&](const FoundRoot& found) { return operation.blockers.empty() && found.operation == &operation; });
    if (is_root) continue;
    HangWait wait{.ranks = ids_from(operation.waiting), .operation = operation_of(job_, operation.call, &operation)};
    for (const Blocker& blocker : operation.blockers) wait.waits_for.push_back(RankId{blocker.rank});
    report_.waiting.push_back(std::move(wait));
  }
  std::ranges::stable_sort(report_.waiting, std::greater{}, [](const HangWait& wait) { return wait.ranks.size(); });
}

void Judge::decide() {
  const auto& roots = report_.roots;
  const auto any = [&](HangKind kind) { return std::ranges::find(roots, kind, &HangRoot::kind) != roots.end(); };
  std::size_t guessed = 0;
  for (const HangRoot& root : roots)
    if (root.kind == HangKind::no_dump) guessed += root.ranks.size();
  const auto witnesses = static_cast<std::size_t>(
      std::ranges::count_if(job_.ranks, [](const auto& row) { return row.second.witness != Witness::nothing; }));
  const bool only_guesses =
      !roots.empty() && std::ranges::all_of(roots, [](const HangRoot& root) { return root.kind == HangKind::no_dump; });
  if (witnesses == 0) {
    report_.why_not_told = "no input shows how far any rank got";
  } else if (only_guesses && guessed >= witnesses) {
    report_.why_not_told = format("the other ranks wait for {}, about which nothing is known; add the missing dumps",
                                  counted(guessed, "rank"));
  } else if (any(HangKind::dead)) {
    const auto dead = std::ranges::find(roots, HangKind::dead, &HangRoot::kind);
    report_.verdict = dead->exit_status ? HangVerdict::failed : HangVerdict::crash;
  } else if (!roots.empty()) {
    const bool slow = std::ranges::all_of(roots, [](const HangRoot& root) { return root.kind == HangKind::straggler; });
    report_.verdict = slow ? HangVerdict::slow : HangVerdict::hang;
  } else if (!running_ && !unknown_partner_.empty()) {
    std::ranges::sort(unknown_partner_);
    report_.why_not_told = format("{} {} in a send or receive whose other side is not recorded",
                                  ranks_words(unknown_partner_), unknown_partner_.size() == 1 ? "waits" : "wait");
  } else {
    report_.verdict = running_ ? HangVerdict::running : HangVerdict::finished;
  }
}

}  // namespace

HangReport judge(const JobProgress& job) { return Judge{job}.report(); }

}  // namespace rankscope::analyzer::hang
