// The events of NCCL's proxy threads that are open, in slots that are there from the start: no lock, no allocation.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace rankscope::inject::nccl {

/// What is known of an open proxy operation, proxy step or kernel channel. Only the thread that opened it changes it.
struct OpenEvent {
  enum class Kind : std::uint8_t { proxy_op, proxy_step, kernel_channel };
  /// What a step waits for; the sums of an operation are in this order.
  enum Wait : std::uint8_t { own_gpu, peer, transfer, flush, wait_count };

  Kind kind{};
  bool is_send = false;
  std::uint64_t uid = 0;                     ///< of the operation it is a part of; 0 = not known
  std::uint64_t range = 0;                   ///< of a proxy operation: the range's handle; 0 = it is not stored
  std::uint64_t parent = 0;                  ///< of a step: the handle of its proxy operation
  std::uint64_t gpu_begin = 0, gpu_end = 0;  ///< of a kernel channel, in ns
  std::uint64_t ns_per_count = 1;            ///< of the timer that tells them
  std::int64_t since_ns = 0;                 ///< of a step: when its wait began
  Wait wait = own_gpu;
  std::int64_t steps = 0;
  std::int64_t bytes = 0;
  std::array<std::int64_t, wait_count> waited_ns{};
};

/// Handles stay valid as numbers for ever: one that has been given back finds nothing.
class OpenEvents {
 public:
  static constexpr std::uint32_t slot_count = 8192;

  /// 0: all slots are taken.
  std::uint64_t open(const OpenEvent& event) {
    for (std::uint32_t tried = 0; tried < slot_count; ++tried) {
      const std::uint32_t index = next_.fetch_add(1, std::memory_order_relaxed) % slot_count;
      Slot& slot = slots_[index];
      std::uint32_t generation = slot.generation.load(std::memory_order_relaxed);
      if (generation % 2 == 1) continue;
      if (!slot.generation.compare_exchange_strong(generation, generation + 1, std::memory_order_acquire)) continue;
      slot.event = event;
      return (std::uint64_t{generation} + 1) * slot_count + index;
    }
    return 0;
  }
  /// Null: it was given back, or never was.
  OpenEvent* find(std::uint64_t handle) {
    Slot& slot = slots_[handle % slot_count];
    const bool held =
        slot.generation.load(std::memory_order_acquire) == static_cast<std::uint32_t>(handle / slot_count);
    return held && handle / slot_count % 2 == 1 ? &slot.event : nullptr;
  }
  void close(std::uint64_t handle) {
    if (find(handle) != nullptr) slots_[handle % slot_count].generation.fetch_add(1, std::memory_order_release);
  }

 private:
  struct Slot {
    std::atomic<std::uint32_t> generation{0};  ///< odd: taken
    OpenEvent event;
  };
  std::array<Slot, slot_count> slots_{};
  std::atomic<std::uint32_t> next_{0};
};

}  // namespace rankscope::inject::nccl
