#include "analyzer/alignment/simulated.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "analyzer/synthetic_run.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::testing {
namespace {

std::int64_t shown(const SimulatedClock& clock, std::int64_t time) {
  return time + clock.offset_ns + std::llround(1e-6 * clock.drift_ppm * static_cast<double>(time)) + clock.more(time);
}

}  // namespace

std::string text_of(const SimulatedRun& plan) {
  std::mt19937_64 random{plan.seed};
  std::normal_distribution<double> noise{0, plan.exit_noise_ns};
  std::string text = plan.head;
  std::string members;
  for (std::size_t rank = 0; rank < plan.clocks.size(); ++rank) {
    text += format("@rank {}{}\n", rank, plan.hosts_known ? format(" host=h{}", rank) : "");
    members += format("{}{}", rank == 0 ? "" : ",", rank);
    if (plan.on_device) text += format("@lane {} stream7 kind=stream number=7 device=0\n", rank);
  }
  text += format("@group dp {}\n", members);
  for (std::int64_t operation = 0; operation < plan.operations; ++operation) {
    const std::int64_t moment = plan.span_ns / plan.operations * operation;
    std::int64_t last = moment + 100'000;
    for (std::uint32_t rank = 0; rank < plan.clocks.size(); ++rank)
      last = std::max(last, moment + 100'000 + plan.late(rank, operation));
    for (std::uint32_t rank = 0; rank < plan.clocks.size(); ++rank) {
      const SimulatedClock& clock = plan.clocks[rank];
      const std::int64_t end = last + 300'000 + std::llround(noise(random)) + plan.exit(rank, operation);
      text += format("{} mark {} moment unit={}\n", rank, shown(clock, moment), operation);
      text += format("{} comm {} {} allreduce group=dp seq={} bytes=1000{}\n", rank,
                     shown(clock, moment + 100'000 + plan.late(rank, operation)), shown(clock, end), operation + 1,
                     plan.on_device ? " lane=stream7" : "");
    }
  }
  return text;
}

std::shared_ptr<const Run> make(const SimulatedRun& plan) { return run_of(text_of(plan)); }

std::int64_t worst_disagreement(const Run& run) {
  std::map<std::int64_t, std::vector<std::int64_t>> moments;
  for (const Mark& mark : run.marks())
    for (const auto& attribute : run.attributes_of(mark))
      if (run.text(attribute.key) == "unit") moments[attribute.value.number].push_back(ns_of(mark.time));
  std::int64_t worst = 0;
  for (const auto& [operation, times] : moments) {
    const auto [low, high] = std::ranges::minmax(times);
    worst = std::max(worst, high - low);
  }
  return worst;
}

}  // namespace rankscope::testing
