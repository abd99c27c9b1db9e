#include "collectives/operation_times.h"

#include <algorithm>

#include "collectives/comm_ops.h"
#include "math/statistics.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

// Clocks are doubted above that (metrics.md 7): waits and transfers inside their error are left unknown where durations
// do not tell them either.
constexpr std::int64_t coarse_error_ns = 200'000;

struct Member {
  std::uint32_t row = 0;
  RankId rank;
  std::int64_t peer = -1;
  std::int64_t start = 0;
  std::int64_t end = 0;
  bool on_device = false;
  [[nodiscard]] std::int64_t duration() const { return end - start; }
};

std::vector<Member> members_of(const Run& run, const Operation& operation) {
  std::vector<Member> members;
  for (const std::uint32_t row : operation.members) {
    const Collective& collective = run.collectives()[row];
    const bool on_device = collective.lane.is_set() && run.lane(collective.lane).kind == LaneKind::stream;
    members.push_back(
        {row, collective.rank, collective.peer, ns_of(collective.started), ns_of(collective.finished), on_device});
  }
  return members;
}

std::int64_t spread_of(std::span<const Member> members) {
  const auto [first, last] = std::ranges::minmax(members, {}, &Member::start);
  return last.start - first.start;
}

std::vector<RankId> ranks_of(std::span<const Member> members) {
  std::vector<RankId> ranks;
  for (const Member& member : members) ranks.push_back(member.rank);
  return ranks;
}

/// The rank with the largest value, if it leads the second by a difference that is a fact; exact ties without any clock
/// error go to the lowest rank.
template <class Projection>
RankId leading_rank(std::span<const Member> members, std::int64_t claim_ns, Projection value) {
  const auto top = std::ranges::max_element(members, {}, value);
  std::int64_t second = value(members.front() == *top ? members.back() : members.front());
  for (const Member& member : members) {
    if (!(member == *top)) second = std::max(second, value(member));
  }
  const std::int64_t lead = value(*top) - second;
  return lead > claim_ns || claim_ns == 0 ? top->rank : RankId::none();
}

bool operator==(const Member& a, const Member& b) { return a.row == b.row; }

struct WaitedFor {
  std::int64_t start = 0;
  RankId rank{};
};

/// The rank that `member` has to wait for (6, column "who waits"), of which `last` is the one that started last; its
/// own start if it waits for nobody.
WaitedFor waited_for(WaitRule rule, std::span<const Member> members, const Member& member, const WaitedFor& last) {
  const WaitedFor nobody{member.start, RankId::none()};
  if (!has_to_wait(rule, static_cast<std::int64_t>(member.rank.value) == member.peer)) return nobody;
  if (rule != WaitRule::root_is_last) return last;
  for (const Member& other : members)
    if (static_cast<std::int64_t>(other.rank.value) == member.peer) return {other.start, other.rank};
  return nobody;
}

MemberPart waited(std::int64_t wait_ns, RankId rank) {
  return {true, true, wait_ns, wait_ns > 0 ? rank : RankId::none()};
}

/// Why it cannot be told who waits for whom; empty if it can.
std::string_view why_not_split(WaitRule rule, std::span<const Member> members) {
  constexpr std::string_view no_root = "the root was not recorded";
  switch (rule) {
    case WaitRule::all:
    case WaitRule::pair:
      return {};
    case WaitRule::root_is_last:
    case WaitRule::root_waits:
      return std::ranges::all_of(members, [](const Member& member) { return member.peer >= 0; }) ? "" : no_root;
    case WaitRule::unknown:
      break;
  }
  return "rankscope does not know which ranks wait for which in operations of this kind";
}

/// metrics.md 6.1 to 6.3.
void by_run_time(const ClockTrust& clocks, std::span<const Member> members, WaitRule rule, Operation& operation,
                 std::vector<MemberPart>& parts) {
  const std::int64_t first = std::ranges::min(members, {}, &Member::start).start;
  const std::int64_t last = std::ranges::max(members, {}, &Member::start).start;
  std::vector<std::int64_t> ends;
  for (const Member& member : members) ends.push_back(member.end);
  operation.spread_ns = last - first;
  operation.transfer_ns = std::max<std::int64_t>(0, median(ends) - last);
  const std::int64_t error = clocks.error_ns(ranks_of(members));
  const std::int64_t claim = 2 * error;
  operation.last_rank = leading_rank(members, claim, [](const Member& member) { return member.start; });
  operation.first_rank = leading_rank(members, claim, [](const Member& member) { return -member.start; });
  operation.why_no_wait = why_not_split(rule, members);
  if (rule != WaitRule::all && error > coarse_error_ns && operation.spread_ns <= claim)
    operation.why_no_wait = operation.why_no_transfer = "the ranks start closer together than their clocks can resolve";
  if (!operation.why_no_wait.empty()) return;
  for (const Member& member : members) {
    const WaitedFor other = waited_for(rule, members, member, {last, operation.last_rank});
    const std::int64_t wait = std::clamp<std::int64_t>(other.start - member.start, 0, member.duration());
    parts[member.row] = waited(wait, other.rank);
    operation.wait_ns += wait;
  }
}

/// metrics.md 6.9: members of an all-wait operation end together, so the late rank has the shortest one.
void by_duration(std::span<const Member> members, WaitRule rule, Operation& operation, std::vector<MemberPart>& parts) {
  if (rule != WaitRule::all) {
    operation.why_no_wait = operation.why_no_transfer = "the clocks of the ranks cannot be compared";
    return;
  }
  const auto duration = [](const Member& member) { return member.duration(); };
  const std::int64_t shortest = std::ranges::min(members, {}, duration).duration();
  const std::int64_t longest = std::ranges::max(members, {}, duration).duration();
  operation.spread_ns = longest - shortest;
  operation.transfer_ns = shortest;
  operation.first_rank = leading_rank(members, duration_claim_ns, duration);
  operation.last_rank =
      leading_rank(members, duration_claim_ns, [](const Member& member) { return -member.duration(); });
  for (const Member& member : members) {
    parts[member.row] = waited(member.duration() - shortest, operation.last_rank);
    operation.wait_ns += member.duration() - shortest;
  }
}

/// metrics.md 7.6: in an all-wait operation nobody ends before everybody started.
std::uint64_t violations(std::span<const Member> members, WaitRule rule, std::int64_t error_ns) {
  if (rule != WaitRule::all) return 0;
  const std::int64_t last = std::ranges::max(members, {}, &Member::start).start;
  const auto early = [&](const Member& member) { return member.end < last - error_ns; };
  return static_cast<std::uint64_t>(std::ranges::count_if(members, early));
}

/// True if the ends on hosts are closer together than their clocks can tell: a rank that does not run at once when the
/// operation has ended would have a longer wait.
bool ends_agree(std::span<const Member> members, std::int64_t error_ns) {
  const auto [first, last] = std::ranges::minmax(members, {}, &Member::end);
  return error_ns <= coarse_error_ns && last.end - first.end <= error_ns;
}

bool durations_say_more(const ClockTrust& clocks, std::span<const Member> members, WaitRule rule) {
  const std::vector<RankId> ranks = ranks_of(members);
  if (!clocks.comparable(ranks)) return true;
  const std::int64_t error = clocks.error_ns(ranks);
  if (!std::ranges::all_of(members, &Member::on_device) && !ends_agree(members, error)) return false;
  return rule == WaitRule::all && error > duration_claim_ns && spread_of(members) <= 2 * error;
}

}  // namespace

bool is_timed_by_duration(const Run& run, const ClockTrust& clocks, const Operation& operation) {
  return durations_say_more(clocks, members_of(run, operation), comm_op(run.text(operation.op)).wait);
}

std::uint64_t time_operation(const Run& run, const ClockTrust& clocks, Operation& operation,
                             std::vector<MemberPart>& parts) {
  const std::vector<Member> members = members_of(run, operation);
  const WaitRule rule = comm_op(run.text(operation.op)).wait;
  if (durations_say_more(clocks, members, rule))
    by_duration(members, rule, operation, parts);
  else
    by_run_time(clocks, members, rule, operation, parts);
  const std::vector<RankId> ranks = ranks_of(members);
  return clocks.comparable(ranks) ? violations(members, rule, clocks.error_ns(ranks)) : 0;
}

}  // namespace rankscope::analyzer
