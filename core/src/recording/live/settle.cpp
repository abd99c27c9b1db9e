// Which steps are accounted for, and with what.
#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include "recording/live/decoder.h"

namespace rankscope::recording {
namespace {

constexpr nanoseconds lookback{1'000'000'000};  // threads are read one after the other, not at one moment

}  // namespace

/// What both the program and its library reported counts once.
void LiveDecoder::settle_sums(Ended& ended) {
  if (!ended.step.split) return settle_without_sums(ended);
  const HostTime begin = ended.step.begin;
  const HostTime end = begin + ended.step.duration;
  std::array<std::int64_t, 2> bytes{};
  std::array<std::int64_t, 2> operations{};
  for (const Enqueued& one : enqueued_) {
    if (one.time < begin || one.time >= end) continue;
    bytes[one.is_announced ? 1 : 0] += one.bytes;
    ++operations[one.is_announced ? 1 : 0];
  }
  std::erase_if(enqueued_, [end](const Enqueued& one) { return one.time < end; });
  const std::size_t used = operations[1] > 0 ? 1 : 0;
  const LiveSplit& split = *ended.step.split;
  StepSumsFields& fields = ended.sums.fields;
  fields.compute_ns = split.compute.count();
  fields.communication_ns = split.communication.count();
  fields.copies_ns = split.copies.count();
  fields.data_ns = split.data.count();
  fields.wait_ns = split.wait.count();
  fields.bytes = bytes[used];
  fields.operations = operations[used];
  settled_.push_back({true, ended.sums, begin, end});
}

void LiveDecoder::settle_without_sums(const Ended& ended) {
  if (length_ == StepLength::to_the_next)
    settled_.push_back({false, ended.sums, ended.step.begin, ended.step.begin + ended.step.duration});
}

/// Too much was reported to keep: nobody knows what these steps were spent on.
void LiveDecoder::give_up_unsettled() {
  for (auto one = steps_.end() - static_cast<std::ptrdiff_t>(unsettled_); one != steps_.end(); ++one)
    settle_without_sums(*one);
  host_.clear();
  device_.clear();
  unsettled_ = 0;
  complete_since_ = latest_;
  too_many_ = false;
}

/// Up to here all threads have been taken.
HostTime LiveDecoder::known_until(const std::set<std::uint32_t>& waiting) const {
  HostTime known = latest_;
  for (const std::uint32_t number : waiting) {
    const auto thread = threads_.find(number);
    known = std::min(known, thread == threads_.end() ? HostTime{} : thread->second.seen);
  }
  return known;
}

// Where a device tells what it did, the host's own work is no part of the split; its idle time is.
std::vector<LiveStretch> LiveDecoder::stretches_in(HostTime begin, HostTime end) const {
  const auto touches = [begin, end](const LiveStretch& stretch) { return stretch.end > begin && stretch.begin < end; };
  std::vector<LiveStretch> stretches;
  std::ranges::copy_if(device_, std::back_inserter(stretches), touches);
  for (const LiveStretch& stretch : host_) {
    const bool is_idle = stretch.layer == LiveLayer::data || stretch.layer == LiveLayer::wait;
    // A worker's may have been told before it was known which thread has the steps.
    const bool is_own = !is_idle || stretch.thread == step_thread_;
    if (touches(stretch) && is_own && (is_idle || !has_device_)) stretches.push_back(stretch);
  }
  return stretches;
}

void LiveDecoder::settle(const std::set<std::uint32_t>& waiting) {
  settle_until(known_until(waiting) - (has_device_ ? limits_.device_delay : limits_.host_delay));
}

void LiveDecoder::settle_until(HostTime told) {
  if (too_many_) give_up_unsettled();
  const auto first = steps_.end() - static_cast<std::ptrdiff_t>(unsettled_);
  const auto last = std::find_if(first, steps_.end(), [&](const Ended& one) { return !is_over(one, told); });
  if (first != last) {
    const LiveStep& latest = (last - 1)->step;
    std::vector<LiveStep> steps;
    for (auto one = first; one != last; ++one) steps.push_back(one->step);
    split_steps(steps, stretches_in(first->step.begin, latest.begin + latest.duration));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Ended& ended = first[static_cast<std::ptrdiff_t>(i)];
      if (steps[i].begin >= complete_since_) ended.step.split = steps[i].split;
      if (length_ == StepLength::to_the_next) settle_sums(ended);
    }
  }
  unsettled_ = static_cast<std::size_t>(steps_.end() - last);
  HostTime oldest = latest_;
  if (last != steps_.end()) oldest = last->step.begin;
  if (const auto thread = threads_.find(step_thread_); thread != threads_.end())
    for (const Open& open : thread->second.open)
      if (open.is_step) oldest = std::min(oldest, open.begin);
  drop_old(std::min(oldest, told) - lookback);
}

void LiveDecoder::settle_last(const std::set<std::uint32_t>& waiting) {
  if (unsettled_ > 0) steps_.back().is_followed = true;
  settle(waiting);
}

bool LiveDecoder::has_unsettled(HostTime before) const {
  if (unsettled_ > 0 && steps_[steps_.size() - unsettled_].step.begin < before) return true;
  const auto thread = threads_.find(step_thread_);
  return thread != threads_.end() && std::ranges::any_of(thread->second.open, [before](const Open& open) {
           return open.is_step && open.begin < before;
         });
}

/// Nothing more will be reported about it.
bool LiveDecoder::is_over(const Ended& ended, HostTime told) const {
  const bool has_end = length_ == StepLength::span || ended.is_followed;
  return has_end && ended.step.begin + ended.step.duration <= told;
}

void LiveDecoder::drop_old(HostTime oldest) {
  const auto is_old = [oldest](const LiveStretch& stretch) { return stretch.end < oldest; };
  std::erase_if(host_, is_old);
  std::erase_if(device_, is_old);
}

}  // namespace rankscope::recording
