#include "synthetic/plan.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "rankscope/core/format.h"

namespace rankscope::synthetic {
namespace {

constexpr std::array<std::string_view, 5> kinds{"slow", "data", "pause", "comm", "link"};

void set(Fault& fault, const std::string& key, const std::string& value) {
  if (key == "rank")
    fault.rank = std::stoi(value);
  else if (key == "other")
    fault.other = std::stoi(value);
  else if (key == "factor")
    fault.factor = std::stod(value);
  else if (key == "ms")
    fault.ms = std::stod(value);
  else if (key == "step")
    fault.step = std::stoll(value);
  else if (key == "every")
    fault.every = std::max(1LL, std::stoll(value));
  else
    throw std::invalid_argument("a fault has no " + key);
}

}  // namespace

Fault fault_from(std::string_view text) {
  Fault fault;
  fault.text = text;
  const auto colon = text.find(':');
  const auto kind = std::ranges::find(kinds, text.substr(0, colon));
  if (kind == kinds.end() || colon == std::string_view::npos)
    throw std::invalid_argument("unknown fault: " + fault.text);
  fault.kind = static_cast<FaultKind>(kind - kinds.begin());
  std::string_view rest = text.substr(colon + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos) throw std::invalid_argument("a fault needs KEY=VALUE: " + fault.text);
    set(fault, std::string{pair.substr(0, equals)}, std::string{pair.substr(equals + 1)});
  }
  return fault;
}

std::string why_impossible(const Plan& plan) {
  if (plan.ranks < 1 || plan.pp < 1 || plan.tp < 1 || plan.steps < 1) return "ranks, steps, pp and tp are at least 1";
  if (plan.ranks % (plan.pp * plan.tp) != 0)
    return format("{} ranks cannot be divided into pipelines of {} x {} ranks", plan.ranks, plan.pp, plan.tp);
  if (plan.hosts < 1 || plan.ranks % plan.hosts != 0)
    return format("{} ranks cannot be divided among {} hosts", plan.ranks, plan.hosts);
  if (!fits(plan.schedule, plan.shape()))
    return format("{} is not defined for {} micro-batches and {} chunks on {} ranks", name_of(plan.schedule),
                  plan.micro_batches, plan.chunks, plan.pp);
  if (!plan.stage_work.empty() && plan.stage_work.size() != static_cast<std::size_t>(plan.pp))
    return "stage work needs one factor per rank of the pipeline";
  const auto there = [&](const Fault& fault) {
    return fault.rank >= 0 && fault.rank < plan.ranks && fault.other < plan.ranks;
  };
  if (!std::ranges::all_of(plan.faults, there)) return "a fault names a rank that is not there";
  return {};
}

Place place_of(const Plan& plan, std::int32_t rank) {
  return {rank % plan.tp, rank / plan.tp % plan.dp(), rank / plan.tp / plan.dp()};
}

std::int32_t rank_at(const Plan& plan, const Place& place) {
  return place.tp + plan.tp * (place.dp + plan.dp() * place.pp);
}

}  // namespace rankscope::synthetic
