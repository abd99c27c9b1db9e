#include "alignment/pairing.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "math/assignment.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

/// How soon after its send a receive ends that waited for it.
struct Nearness {
  std::int64_t ns;
  std::string_view text;
};
// The shorter one is for programs whose messages follow each other within milliseconds.
constexpr std::array limits{Nearness{1'000'000, "1 ms"}, Nearness{100'000, "100 µs"}};
constexpr std::int64_t longest_delay_ns = 10'000'000;  // one receive that was delayed must not outweigh all others
constexpr std::size_t least_near = 3;                  // receives
constexpr std::size_t one_near_of = 3;                 // that waited: with longer delays, times say too little
constexpr double most_near_by_chance = 0.1;
constexpr std::size_t most_sites = 300;  // the search takes a time that grows with their third power
constexpr std::size_t most_steps = 100;  // are compared by the search; its result is checked in all steps

using RankLink = std::pair<RankId, RankId>;  // from, to
using RankLinks = std::set<RankLink>;

/// How long after it could have ended the receive did end.
double delay_ns(const UnpairedCall& send, const UnpairedCall& receive) {
  return static_cast<double>(
      std::clamp<std::int64_t>(receive.end_ns - std::max(send.start_ns, receive.blocked_ns), 0, longest_delay_ns));
}

bool is_possible(const UnpairedCall& send, const UnpairedCall& receive) {
  const bool same_size = send.bytes < 0 || receive.bytes < 0 || send.bytes == receive.bytes;
  return same_size && receive.end_ns >= send.start_ns;
}

double cost_of(const CallSite& send, const CallSite& receive) {
  if (send.rank == receive.rank) return impossible;
  double sum = 0;
  for (std::size_t step = 0; step < std::min(send.calls.size(), most_steps); ++step) {
    if (!is_possible(send.calls[step], receive.calls[step])) return impossible;
    sum += delay_ns(send.calls[step], receive.calls[step]);
  }
  return sum;
}

class PairSearch {
 public:
  PairSearch(const UnpairedCalls& calls, const Nearness& limit) : calls_(calls), limit_(limit) {
    for (const CallSite& receive : calls.receives)
      for (const CallSite& send : calls.sends) costs_.push_back(cost_of(send, receive));
    for (std::size_t step = 0; step < calls.sends.front().calls.size(); ++step) time_ns_ += length_ns(step);
    for (const CallSite& send : calls.sends) sends_of_[send.rank] += send.calls.size();
  }

  Pairing find() {
    const auto first = among([](const RankLink&) { return true; });
    if (!first)
      return nothing(
          "no matter how the receives are assigned to sends of other ranks, at least one receive ends before its send "
          "starts or differs from its send in size");
    const RankLinks needed = needed_of(*first);
    auto pairs = among([&needed](const RankLink& link) { return needed.contains(link); });
    if (!pairs) return nothing("the times also fit messages between other pairs of ranks");
    if (!std::ranges::all_of(*pairs, [this](const SitePair& pair) { return is_possible_always(pair); }))
      return nothing(
          "only one assignment of receives to sends is left, but with it, at least one receive ends before its send "
          "starts or differs from its send in size");
    const PairEvidence evidence = evidence_for(*pairs);
    if (evidence.near < least_near || one_near_of * evidence.near < evidence.waited)
      return nothing(
          format("in the best assignment found, only {} of the {} receives that were already waiting when their send "
                 "started ended within {} of that start",
                 evidence.near, evidence.waited, limit_.text));
    if (evidence.by_chance > most_near_by_chance * static_cast<double>(evidence.near))
      return nothing(format(
          "in the best assignment found, chance could explain more than a tenth of the {} receives that ended within "
          "{} of the start of their send",
          evidence.near, limit_.text));
    return {std::move(*pairs), evidence, {}};
  }

 private:
  static Pairing nothing(std::string_view why) { return {.pairs = {}, .evidence = {}, .why = std::string{why}}; }

  /// The cheapest assignment on these links, by sends; nothing if they do not suffice.
  template <class IsAllowed>
  [[nodiscard]] std::optional<std::vector<SitePair>> among(IsAllowed is_allowed) const {
    std::vector<double> costs = costs_;
    const std::size_t size = calls_.sends.size();
    for (std::size_t receive = 0; receive < size; ++receive)
      for (std::size_t send = 0; send < size; ++send)
        if (!is_allowed(link_of({send, receive}))) costs[receive * size + send] = impossible;
    const auto sends = cheapest_assignment(costs, size);
    if (!sends) return std::nullopt;
    std::vector<SitePair> pairs;
    for (std::size_t receive = 0; receive < size; ++receive) pairs.push_back({(*sends)[receive], receive});
    return in_order(std::move(pairs));
  }

  /// In each step, also in those that the search did not compare.
  [[nodiscard]] bool is_possible_always(const SitePair& pair) const {
    return std::ranges::equal(calls_.sends[pair.send].calls, calls_.receives[pair.receive].calls, is_possible);
  }

  /// RankLinks without which no assignment is possible, or the best one loses most of what speaks for the link.
  [[nodiscard]] RankLinks needed_of(const std::vector<SitePair>& pairs) const {
    const std::size_t near = evidence_for(pairs).near;
    RankLinks needed;
    for (const auto& [link, own] : by_link(pairs)) {
      const auto other = among([&link](const RankLink& any) { return any != link; });
      const std::size_t left = other ? evidence_for(*other).near : 0;
      if (!other || (own.near >= least_near && 2 * left + own.near <= 2 * near)) needed.insert(link);
    }
    return needed;
  }

  [[nodiscard]] RankLink link_of(const SitePair& pair) const {
    return {calls_.sends[pair.send].rank, calls_.receives[pair.receive].rank};
  }

  /// The n-th message of each link is the n-th that its receiver takes. The times then fit as well as before, since an
  /// earlier send and a later receive leave each other more time; the sizes may not.
  [[nodiscard]] std::vector<SitePair> in_order(std::vector<SitePair> pairs) const {
    std::map<RankLink, std::vector<std::size_t>> receives;
    for (const SitePair& pair : pairs) receives[link_of(pair)].push_back(pair.receive);
    for (auto& [link, places] : receives) std::ranges::sort(places, std::ranges::greater{});
    std::ranges::sort(pairs, {}, &SitePair::send);
    for (SitePair& pair : pairs) {
      std::vector<std::size_t>& places = receives[link_of(pair)];
      pair.receive = places.back();
      places.pop_back();
    }
    return pairs;
  }

  [[nodiscard]] std::map<RankLink, PairEvidence> by_link(const std::vector<SitePair>& pairs) const {
    std::map<RankLink, PairEvidence> links;
    for (const SitePair& pair : pairs) add(pair, links[link_of(pair)]);
    return links;
  }

  [[nodiscard]] PairEvidence evidence_for(const std::vector<SitePair>& pairs) const {
    PairEvidence evidence{.limit = limit_.text};
    for (const SitePair& pair : pairs) add(pair, evidence);
    return evidence;
  }

  void add(const SitePair& pair, PairEvidence& evidence) const {
    const CallSite& send = calls_.sends[pair.send];
    const CallSite& receive = calls_.receives[pair.receive];
    const double rate = static_cast<double>(sends_of_.at(send.rank)) / time_ns_;
    for (std::size_t step = 0; step < send.calls.size(); ++step) {
      if (receive.calls[step].blocked_ns > send.calls[step].start_ns) continue;
      ++evidence.waited;
      evidence.by_chance += std::min(1.0, rate * static_cast<double>(limit_.ns));
      const std::int64_t after_ns = receive.calls[step].end_ns - send.calls[step].start_ns;
      if (after_ns >= 0 && after_ns <= limit_.ns) ++evidence.near;
    }
  }

  /// Of one step, from its first call to its last end.
  [[nodiscard]] double length_ns(std::size_t step) const {
    std::int64_t begin = calls_.sends.front().calls[step].start_ns;
    std::int64_t end = begin + 1;
    for (const std::vector<CallSite>* sites : {&calls_.sends, &calls_.receives}) {
      for (const CallSite& site : *sites) {
        begin = std::min(begin, site.calls[step].start_ns);
        end = std::max(end, site.calls[step].end_ns);
      }
    }
    return static_cast<double>(end - begin);
  }

  const UnpairedCalls& calls_;
  Nearness limit_;
  std::vector<double> costs_;  // of the first receive by send, then of the second one, ...
  double time_ns_ = 0;         // of all steps
  std::map<RankId, std::size_t> sends_of_;
};

/// Why no pairs can be looked for.
std::string why_not_searched(const UnpairedCalls& calls) {
  if (!calls.why.empty()) return calls.why;
  if (calls.sends.size() != calls.receives.size())
    return format("a step has {}, but {}, so the partners of some of these calls were not recorded",
                  counted(calls.sends.size(), "send"), counted(calls.receives.size(), "receive"));
  if (calls.sends.empty()) return "most steps contain none of these calls";
  if (calls.sends.size() > most_sites)
    return format("a step has {} sends, too many to compare each of them with each receive", calls.sends.size());
  return {};
}

}  // namespace

Pairing pair_sites(const UnpairedCalls& calls) {
  Pairing result{.pairs = {}, .evidence = {}, .why = why_not_searched(calls)};
  if (!result.why.empty()) return result;
  for (const Nearness& limit : limits) {
    result = PairSearch{calls, limit}.find();
    if (!result.pairs.empty()) return result;
  }
  return result;
}

}  // namespace rankscope::analyzer
