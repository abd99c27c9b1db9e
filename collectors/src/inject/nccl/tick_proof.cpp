#include "inject/nccl/tick_proof.h"

namespace rankscope::inject::nccl {
namespace {

/// The best times of neighbouring seconds may lie close to one another.
constexpr std::int64_t least_advance_ns = SmallestDelay::window_ns / 2;

/// A tenth is far more than the best time of a second is late, and far less than between the rates that timers have.
bool advance_as_expected(const Noticed& from, const Noticed& to) {
  const std::int64_t host = to.host_ns - from.host_ns;
  const std::int64_t later = static_cast<std::int64_t>(static_cast<std::uint64_t>(to.delay_ns()) -
                                                       static_cast<std::uint64_t>(from.delay_ns()));
  return later > -host / 10 && later < host / 10;
}

}  // namespace

TickProof::Verdict TickProof::saw(const Noticed& next) {
  if (verdict_ != Verdict::open) return verdict_;
  const std::optional<Noticed> best = seconds_.add(next);
  if (!best) return verdict_;
  if (to_) from_ = to_;  // refuted by these two
  if (!from_) {
    from_ = best;
    return verdict_;
  }
  to_.reset();
  if (best->host_ns - from_->host_ns < least_advance_ns) return verdict_;
  to_ = best;
  if (advance_as_expected(*from_, *best))
    verdict_ = Verdict::proven;
  else if (++refutations_ == most_refutations)
    verdict_ = Verdict::refuted;
  return verdict_;
}

}  // namespace rankscope::inject::nccl
