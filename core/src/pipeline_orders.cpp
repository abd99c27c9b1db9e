#include "rankscope/core/pipeline_orders.h"

#include <algorithm>
#include <deque>

#include "rankscope/core/result.h"

namespace rankscope {
namespace {

using enum PipelinePart;

constexpr std::array<std::string_view, all_pipeline_schedules.size()> names{"gpipe", "1f1b",           "interleaved",
                                                                            "zb-h1", "zb-interleaved", "zb-v"};

/// Micro-batches of a round: the ranks work on one round of one chunk before they turn to the next chunk.
std::int32_t per_round(const PipelineShape& shape) {
  const std::int32_t rounds = std::max(1, shape.micro_batches / shape.ranks);
  return shape.micro_batches % rounds == 0 ? shape.micro_batches / rounds : 0;
}

bool splits_backward(PipelineSchedule schedule) {
  return schedule == PipelineSchedule::zb_h1 || schedule == PipelineSchedule::zb_interleaved;
}

std::vector<PipelineAction> gpipe(const PipelineShape& shape) {
  std::vector<PipelineAction> order;
  for (std::int32_t micro = 0; micro < shape.micro_batches; ++micro) order.push_back({forward, 0, micro});
  for (std::int32_t micro = 0; micro < shape.micro_batches; ++micro) order.push_back({backward, 0, micro});
  return order;
}

/// 1F1B and its relatives: some forwards first, then forwards and backwards in turn (Megatron-LM, arXiv 2104.04473);
/// with the backward split, weight gradients fill what would be idle (arXiv 2401.10241).
std::vector<PipelineAction> in_turn(PipelineSchedule schedule, const PipelineShape& shape, std::int32_t rank) {
  const std::int32_t per = shape.chunks > 1 ? per_round(shape) : shape.micro_batches;
  const std::int32_t chunks = shape.chunks;
  const std::int64_t all = std::int64_t{chunks} * shape.micro_batches;
  const bool split = splits_backward(schedule);
  // With several chunks a rank runs two further ahead per rank behind it, unless the backward is split.
  const std::int64_t ahead = std::int64_t{chunks > 1 && !split ? 2 : 1} * (shape.ranks - 1 - rank);
  const std::int64_t warm_up = std::min(std::int64_t{chunks - 1} * per + ahead, all);
  std::vector<std::int32_t> forwards(static_cast<std::size_t>(chunks));
  std::vector<std::int32_t> backwards(static_cast<std::size_t>(chunks));
  std::vector<PipelineAction> order;
  std::deque<PipelineAction> pending;
  std::int32_t inputs = 0;
  for (std::int64_t k = 0; k < all + warm_up; ++k) {
    if (k < all) {
      const auto chunk = static_cast<std::int32_t>(k / per % chunks);
      order.push_back({forward, chunk, forwards[static_cast<std::size_t>(chunk)]++});
    }
    if (k < warm_up) continue;
    const auto chunk = static_cast<std::int32_t>(chunks - 1 - (k - warm_up) / per % chunks);
    const std::int32_t micro = backwards[static_cast<std::size_t>(chunk)]++;
    order.push_back({split ? backward_input : backward, chunk, micro});
    if (!split) continue;
    pending.push_back({backward_weight, chunk, micro});
    if (++inputs <= rank) continue;
    order.push_back(pending.front());
    pending.pop_front();
  }
  order.insert(order.end(), pending.begin(), pending.end());
  return order;
}

/// ZB-V (arXiv 2405.15362), in the seven phases of its authors' code. It is laid out for at least 2p - 1 micro-batches;
/// what fewer do not have is left out.
class VOrder {
 public:
  VOrder(const PipelineShape& shape, std::int32_t rank) : shape_(shape), rank_(rank) {}

  std::vector<PipelineAction> make() && {
    const std::int32_t ranks = shape_.ranks;
    const std::int32_t laid_out = std::max(2 * ranks - 1, shape_.micro_batches);
    repeat(2 * (ranks - rank_) - 1, {{forward, 0}});
    repeat(rank_, {{forward, 1}, {forward, 0}});
    repeat(ranks - rank_, {{forward, 1}, {backward_input, 1}, {backward_weight, 1}});
    while (done(forward, 1) < done(forward, 0) || done(forward, 0) < laid_out) {
      if (done(forward, 0) < laid_out) add({forward, 0});
      repeat(1, {{backward_input, 0}, {backward_weight, 0}, {forward, 1}, {backward_input, 1}, {backward_weight, 1}});
    }
    repeat(rank_, {{backward_input, 0}, {backward_input, 1}});
    repeat(ranks - rank_, {{backward_input, 0}, {backward_weight, 0}});
    for (const std::int32_t chunk : {1, 0})
      repeat(done(backward_input, chunk) - done(backward_weight, chunk), {{backward_weight, chunk}});
    std::erase_if(order_, [&](const PipelineAction& action) { return action.micro_batch >= shape_.micro_batches; });
    return std::move(order_);
  }

 private:
  struct Kind {
    PipelinePart part;
    std::int32_t chunk;
  };
  std::int32_t& done(PipelinePart part, std::int32_t chunk) {
    return done_[static_cast<std::size_t>(part)][static_cast<std::size_t>(chunk)];
  }
  void add(Kind kind) { order_.push_back({kind.part, kind.chunk, done(kind.part, kind.chunk)++}); }
  void repeat(std::int32_t times, std::initializer_list<Kind> kinds) {
    for (std::int32_t i = 0; i < times; ++i)
      for (const Kind kind : kinds) add(kind);
  }

  PipelineShape shape_;
  std::int32_t rank_;
  std::array<std::array<std::int32_t, 2>, 4> done_{};
  std::vector<PipelineAction> order_;
};

}  // namespace

const char* span_name_of(PipelinePart part) {
  constexpr std::array spans{"forward", "backward", "backward input", "backward weight"};
  return spans[static_cast<std::size_t>(part)];
}

char letter_of(PipelinePart part) { return "FBIW"[static_cast<std::size_t>(part)]; }

std::string_view name_of(PipelineSchedule schedule) { return names[static_cast<std::size_t>(schedule)]; }

std::optional<PipelineSchedule> pipeline_schedule_from(std::string_view name) {
  for (const PipelineSchedule schedule : all_pipeline_schedules)
    if (name_of(schedule) == name) return schedule;
  return std::nullopt;
}

bool fits(PipelineSchedule schedule, const PipelineShape& shape) {
  if (shape.ranks < 1 || shape.micro_batches < 1 || shape.chunks < 1) return false;
  switch (schedule) {
    case PipelineSchedule::gpipe:
    case PipelineSchedule::one_f_one_b:
    case PipelineSchedule::zb_h1:
      return shape.chunks == 1;
    case PipelineSchedule::interleaved:
    case PipelineSchedule::zb_interleaved:
      return shape.chunks > 1 && per_round(shape) > 0;
    case PipelineSchedule::zb_v:
      return shape.chunks == 2;
  }
  return false;
}

std::vector<PipelineAction> pipeline_order(PipelineSchedule schedule, const PipelineShape& shape, std::int32_t rank) {
  RS_CHECK(fits(schedule, shape) && rank >= 0 && rank < shape.ranks);
  switch (schedule) {
    case PipelineSchedule::gpipe:
      return gpipe(shape);
    case PipelineSchedule::one_f_one_b:
    case PipelineSchedule::interleaved:
    case PipelineSchedule::zb_h1:
    case PipelineSchedule::zb_interleaved:
      return in_turn(schedule, shape, rank);
    case PipelineSchedule::zb_v:
      return VOrder{shape, rank}.make();
  }
  return {};
}

std::int32_t stage_of(PipelineSchedule schedule, const PipelineShape& shape, std::int32_t rank, std::int32_t chunk) {
  const bool turned = schedule == PipelineSchedule::zb_v && chunk == 1;
  return turned ? 2 * shape.ranks - 1 - rank : chunk * shape.ranks + rank;
}

}  // namespace rankscope
