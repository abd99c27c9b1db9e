#include "split/rank_rows.h"

namespace rankscope::analyzer {
namespace {

class Charge {
 public:
  explicit Charge(TimeSplit& split) : split_(split) {}

  /// Charges one stretch: every instant once, compute > comm > memory > idle (C8).
  void operator()(std::int64_t ns, std::uint32_t bits) {
    split_.window_ns += ns;
    const bool compute = has(bits, Layer::compute);
    const bool communicates = has(bits, Layer::transfer) || has(bits, Layer::wait) || has(bits, Layer::unsplit) ||
                              has(bits, Layer::host_wait);
    if (compute) split_.compute_ns += ns;
    if (communicates) charge_communication(ns, bits, compute);
    if (compute || communicates) return;
    if (has(bits, Layer::memory)) {
      split_.memory_ns += ns;
    } else {
      charge_idle(ns, bits);
    }
  }

 private:
  static bool has(std::uint32_t bits, Layer layer) { return (bits >> static_cast<unsigned>(layer) & 1U) != 0; }

  void charge_communication(std::int64_t ns, std::uint32_t bits, bool hidden) {
    split_.comm_ns += ns;
    (hidden ? split_.overlapped_comm_ns : split_.exposed_comm_ns) += ns;
    const std::int64_t exposed = hidden ? 0 : ns;
    if (has(bits, Layer::own_in_comm)) split_.host_late_in_comm_ns += exposed;
    if (has(bits, Layer::transfer)) {
      split_.transfer_ns += ns;
      split_.exposed_transfer_ns += exposed;
    } else if (has(bits, Layer::wait)) {
      split_.wait_ns += ns;
      split_.exposed_wait_ns += exposed;
    } else {
      split_.unsplit_ns += ns;
      const bool delayed = has(bits, Layer::own_delay) && !has(bits, Layer::unsplit);
      if (delayed) split_.own_comm_delay_ns += exposed;
    }
  }

  void charge_idle(std::int64_t ns, std::uint32_t bits) {
    split_.idle_ns += ns;
    if (has(bits, Layer::for_others)) split_.idle_for_others_ns += ns;
    split_.idle_causes_ns[static_cast<std::size_t>(cause(bits))] += ns;
  }

  /// metrics.md 2.7; without launch records an accelerator has hardly any but kernel_gap and other.
  static IdleCause cause(std::uint32_t bits) {
    if (has(bits, Layer::data)) return IdleCause::data;
    if (has(bits, Layer::sync)) return IdleCause::sync;
    if (has(bits, Layer::kernel_gap)) return IdleCause::kernel_gap;
    return has(bits, Layer::accelerator) && !has(bits, Layer::host_late) ? IdleCause::other : IdleCause::host;
  }

  TimeSplit& split_;
};

}  // namespace

std::vector<TimeSplit> split_windows(const Layers& layers, std::span<const TimeRange> windows) {
  std::vector<TimeSplit> splits(windows.size());
  Sweep sweep(layers);
  for (std::size_t i = 0; i < windows.size(); ++i) sweep.over(windows[i], Charge(splits[i]));
  return splits;
}

TimeSplit& TimeSplit::operator+=(const TimeSplit& other) {
  window_ns += other.window_ns;
  compute_ns += other.compute_ns;
  exposed_comm_ns += other.exposed_comm_ns;
  memory_ns += other.memory_ns;
  idle_ns += other.idle_ns;
  comm_ns += other.comm_ns;
  overlapped_comm_ns += other.overlapped_comm_ns;
  wait_ns += other.wait_ns;
  transfer_ns += other.transfer_ns;
  unsplit_ns += other.unsplit_ns;
  exposed_wait_ns += other.exposed_wait_ns;
  exposed_transfer_ns += other.exposed_transfer_ns;
  own_comm_delay_ns += other.own_comm_delay_ns;
  host_late_in_comm_ns += other.host_late_in_comm_ns;
  idle_for_others_ns += other.idle_for_others_ns;
  for (std::size_t i = 0; i < idle_cause_count; ++i) idle_causes_ns[i] += other.idle_causes_ns[i];
  return *this;
}

std::int64_t TimeSplit::own_ns() const {
  return window_ns - exposed_comm_ns - idle_for_others_ns + own_comm_delay_ns + host_late_in_comm_ns;
}

std::string_view name_of(IdleDetail detail) {
  switch (detail) {
    case IdleDetail::none:
      return "";
    case IdleDetail::launching:
      return "launching";
    case IdleDetail::nothing_followed:
      return "nothing_followed";
    case IdleDetail::waits_for_event:
      return "waits_for_event";
    case IdleDetail::profiler_overhead:
      return "profiler_overhead";
    case IdleDetail::inside_graph:
      return "inside_graph";
    case IdleDetail::no_launch_record:
      return "no_launch_record";
  }
  return "?";
}

std::string_view name_of(IdleCause cause) {
  switch (cause) {
    case IdleCause::host:
      return "host";
    case IdleCause::sync:
      return "sync";
    case IdleCause::data:
      return "data";
    case IdleCause::kernel_gap:
      return "kernel_gap";
    case IdleCause::other:
      return "other";
  }
  return "?";
}

}  // namespace rankscope::analyzer
