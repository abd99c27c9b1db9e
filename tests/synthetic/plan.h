// What a synthetic recording holds: the layout of the job, how long its parts take, and what is broken in it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/pipeline_orders.h"

namespace rankscope::synthetic {

enum class FaultKind : std::uint8_t {
  slow,   ///< compute of a rank takes `factor` as long
  data,   ///< a rank waits `ms` longer for its data
  pause,  ///< a rank stands still for `ms`, outside of everything that is recorded
  comm,   ///< a rank begins its last gradient exchange `ms` late
  link,   ///< what goes between two ranks takes `factor` as long
};

struct Fault {
  FaultKind kind = FaultKind::slow;
  std::int32_t rank = 0;
  std::int32_t other = -1;  ///< of a link
  double factor = 1;
  double ms = 0;
  std::int64_t step = 0;   ///< the first one
  std::int64_t every = 1;  ///< and each n-th from there on
  std::string text;        ///< as it was given
  [[nodiscard]] bool hits(std::int64_t now) const { return now >= step && (now - step) % every == 0; }
};

struct Plan {
  std::int32_t ranks = 4;
  std::int64_t steps = 20;
  std::int32_t pp = 1;  ///< ranks of one pipeline; what is left of ranks / (pp * tp) is data-parallel
  std::int32_t tp = 1;
  PipelineSchedule schedule = PipelineSchedule::one_f_one_b;
  std::int32_t chunks = 1;
  std::int32_t micro_batches = 1;
  // Of one micro-batch on one stage (all of its chunks together), in ms. Backward = input + weight.
  double forward_ms = 10;
  double input_ms = 10;
  double weight_ms = 10;
  std::vector<double> stage_work{};  ///< factor of each rank of the pipeline; empty = 1
  double data_ms = 0.5;
  double optimizer_ms = 2;
  double send_ms = 0;       ///< of one micro-batch between two stages
  double allreduce_ms = 2;  ///< of one bucket of gradients
  double tp_ms = 0.1;
  double noise = 0.01;          ///< standard deviation of all compute, as a share
  std::int64_t gap_ns = 0;      ///< of the host, between two spans
  std::int64_t pick_up_ns = 0;  ///< from enqueued to started
  std::int32_t operators = 40;  ///< per rank and step
  std::int32_t buckets = 4;
  std::int32_t layers = 2;  ///< tensor-parallel exchanges of one action
  std::int32_t hosts = 1;
  double skew_ms = 0;    ///< wall clocks of hosts differ by up to this
  double drift_ppm = 0;  ///< clocks of hosts run fast or slow by up to this
  std::uint64_t seed = 1;
  std::vector<Fault> faults{};

  [[nodiscard]] std::int32_t dp() const { return ranks / (pp * tp); }
  [[nodiscard]] PipelineShape shape() const { return {pp, micro_batches, chunks}; }
};

/// "slow:rank=2,factor=1.5", as the trainer takes them; "link:rank=1,other=2,factor=4". Throws std::invalid_argument.
[[nodiscard]] Fault fault_from(std::string_view text);
/// Why the plan is impossible; empty if it is not.
[[nodiscard]] std::string why_impossible(const Plan& plan);

/// Where a rank stands: tensor-parallel ranks are neighbours, pipeline stages farthest apart (Megatron's order).
struct Place {
  std::int32_t tp = 0;
  std::int32_t dp = 0;
  std::int32_t pp = 0;
};
[[nodiscard]] Place place_of(const Plan& plan, std::int32_t rank);
[[nodiscard]] std::int32_t rank_at(const Plan& plan, const Place& place);

}  // namespace rankscope::synthetic
