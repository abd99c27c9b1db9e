#include "rankscope/trainer/plan/pace.h"

#include <algorithm>
#include <numeric>
#include <thread>
#include <utility>

namespace rankscope::trainer {
namespace {

using std::chrono::nanoseconds;

constexpr double optimizer_share = 0.04;
constexpr double forward_share = (1.0 - optimizer_share) / 3.0;
constexpr double backward_share = 2.0 * forward_share;
constexpr double even_share = 0.1;  // dispatch costs time, however few FLOPs a block has
constexpr std::chrono::milliseconds shortest_automatic{100};
constexpr double busy_share = 0.5;  // the bound is 60 %; the rest is for sleeps, loaders and the recorder

nanoseconds scaled(nanoseconds time, double factor) {
  return nanoseconds{static_cast<std::int64_t>(static_cast<double>(time.count()) * factor)};
}

}  // namespace

std::vector<double> block_shares(std::span<const double> work) {
  const double total = std::accumulate(work.begin(), work.end(), 0.0);
  std::vector<double> shares;
  for (const double part : work) {
    const double by_work = total > 0 ? part / total : 0;
    const double even = 1.0 / static_cast<double>(work.size());
    shares.push_back((1.0 - even_share) * by_work + even_share * even);
  }
  return shares;
}

PaceSchedule pace_schedule(nanoseconds step, std::span<const double> work, int micro_steps) {
  PaceSchedule schedule{.optimizer = scaled(step, optimizer_share)};
  for (const double share : block_shares(work)) {
    schedule.forward.push_back(scaled(step, share / micro_steps * forward_share));
    schedule.backward.push_back(scaled(step, share / micro_steps * backward_share));
  }
  return schedule;
}

std::chrono::milliseconds automatic_pace(nanoseconds cpu_time_of_a_step, int local_ranks, int cores) {
  const double needed = static_cast<double>(cpu_time_of_a_step.count()) * local_ranks / (cores * busy_share);
  return std::max(shortest_automatic, std::chrono::ceil<std::chrono::milliseconds>(scaled(nanoseconds{1}, needed)));
}

void Pacer::finish_work() const {
  if (device_.finish) device_.finish();
}

// A device that the host slept for would look idle, and the rank slow on the host.
void Pacer::pass_until(Clock::time_point end) const {
  if (!device_.keep_busy) return std::this_thread::sleep_until(end);
  if (const nanoseconds left = end - Clock::now(); left.count() > 0) device_.keep_busy(left);
}

void Pacer::begin() {
  if (factor_ > 1.0) finish_work();
  waited_before_ = waited();
  deadline_ = resumed_ = Clock::now();
}

void Pacer::part_done(nanoseconds nominal) {
  if (nominal.count() > 0 || factor_ > 1.0) finish_work();
  const nanoseconds so_far = waited();
  const nanoseconds in_part = so_far - std::exchange(waited_before_, so_far);
  deadline_ += in_part;
  resumed_ += in_part;
  const auto now = Clock::now();
  if (nominal.count() > 0) {
    deadline_ += scaled(nominal, factor_ * work_);
    if (now > deadline_) {
      ++overruns_;
      longest_overrun_ = std::max(longest_overrun_, nanoseconds{now - deadline_});
    }
    pass_until(deadline_);
  } else if (factor_ > 1.0) {
    // Unpaced, the block's own time is the nominal time.
    pass_until(now + scaled(now - resumed_, factor_ - 1.0));
  }
  resumed_ = Clock::now();
}

void Pacer::take_overruns(const Pacer& other) {
  overruns_ += other.overruns_;
  longest_overrun_ = std::max(longest_overrun_, other.longest_overrun_);
}

void Pacer::begin_forward() { begin(); }
void Pacer::forward_done(std::size_t block) { part_done(schedule_.forward[block]); }
void Pacer::begin_backward() { begin(); }
void Pacer::backward_done(std::size_t block) { part_done(schedule_.backward[block]); }
void Pacer::begin_optimizer() { begin(); }
void Pacer::optimizer_done() { part_done(schedule_.optimizer); }

}  // namespace rankscope::trainer
