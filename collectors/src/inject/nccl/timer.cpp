#include "inject/nccl/timer.h"

#include <cmath>

#include "rankscope/core/format.h"

namespace rankscope::inject::nccl {
namespace {

constexpr std::uint64_t ns_per_tick = 10;
constexpr const char* problem_key = "nccl_timer_problem";
constexpr const char* other_gpu =
    "this process has communicators on several GPUs, whose timers differ; if a communicator uses a GPU different from "
    "that of the first communicator, the times of its channels are those at which RCCL's proxy noticed the channels";

}  // namespace

// Timers of two GPUs show different times (a supposition: this was not tried). The best time of a second is less than
// a millisecond late, and the clocks drift by less than one in 10,000.
bool GlobalTimer::is_same_gpu(const Noticed& other) const {
  constexpr double late_ns = 1e6, drift = 1e-4;
  if (!anchor_) return true;
  const double apart = static_cast<double>(other.delay_ns()) - static_cast<double>(anchor_->delay_ns());
  const double age = static_cast<double>(other.host_ns) - static_cast<double>(anchor_->host_ns);
  return std::abs(apart) < late_ns + std::abs(age) * drift;
}

void GlobalTimer::saw(recording::ThreadWriter& pen, const Noticed& next) {
  if (busy_.test_and_set(std::memory_order_acquire)) return;
  // The first one at once, so that a process that dies early has one, too.
  const std::optional<Noticed> best = seconds_.add(next);
  if (best || !anchor_) {
    anchor_ = best ? *best : next;
    pen.anchor(recording::ForeignClock::globaltimer, anchor_->ticks, anchor_->gpu_ns);
  }
  busy_.clear(std::memory_order_release);
}

std::optional<bool> GlobalTimer::begins(recording::ThreadWriter& pen, const Noticed& from, const Noticed& to) {
  if (busy_.test_and_set(std::memory_order_acquire)) return std::nullopt;
  const bool is_first = !anchor_;
  const bool is_same = is_same_gpu(to);
  if (is_first) {
    anchor_ = to;
    for (const Noticed& one : {from, to}) pen.anchor(recording::ForeignClock::globaltimer, one.ticks, one.gpu_ns);
  }
  busy_.clear(std::memory_order_release);
  return is_same;
}

GlobalTimer& timer_of_process() {
  static GlobalTimer timer;
  return timer;
}

void CommTimer::counts_ticks() {
  ns_per_count_ = ns_per_tick;
  state_.store(State::unproven, std::memory_order_relaxed);
}

bool CommTimer::saw(recording::ThreadWriter& pen, const Noticed& next) {
  if (state_.load(std::memory_order_relaxed) == State::unproven) prove(pen, next);
  if (state_.load(std::memory_order_relaxed) != State::usable) return false;
  of_process_.saw(pen, next);
  return true;
}

void CommTimer::prove(recording::ThreadWriter& pen, const Noticed& next) {
  if (busy_.test_and_set(std::memory_order_acquire)) return;
  if (state_.load(std::memory_order_relaxed) == State::unproven) {
    const TickProof::Verdict verdict = proof_.saw(next);
    if (verdict == TickProof::Verdict::refuted) {
      pen.metadata(problem_key, refusal_of(*proof_.from(), *proof_.to(), ns_per_count_));
      state_.store(State::of_no_use, std::memory_order_relaxed);
    } else if (verdict == TickProof::Verdict::proven) {
      const std::optional<bool> is_same_gpu = of_process_.begins(pen, *proof_.from(), *proof_.to());
      if (is_same_gpu && !*is_same_gpu) pen.metadata(problem_key, other_gpu);
      if (is_same_gpu) state_.store(*is_same_gpu ? State::usable : State::of_no_use, std::memory_order_relaxed);
    }
  }
  busy_.clear(std::memory_order_release);
}

std::string refusal_of(const Noticed& from, const Noticed& to, std::uint64_t ns_per_count) {
  const double host_s = static_cast<double>(to.host_ns - from.host_ns) / 1e9;
  const double counted =
      (static_cast<double>(to.gpu_ns) - static_cast<double>(from.gpu_ns)) / static_cast<double>(ns_per_count);
  return format(
      "the timer of the GPU did not advance as expected: in each of {} measurements it was too fast or too slow (in "
      "the last one, it counted {:.0f} million times a second instead of {:.0f} million), so the "
      "times of channels are those at which RCCL's proxy noticed the channels",
      TickProof::most_refutations, counted / host_s / 1e6, 1e3 / static_cast<double>(ns_per_count));
}

}  // namespace rankscope::inject::nccl
