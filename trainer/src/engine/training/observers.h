// Memory that libtorch holds, for the recorder. Operator events are observed from set_up_torch (process.h) on.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "engine/libtorch.h"

namespace rankscope::trainer {

/// Counts bytes that tensors hold. On the CPU those of the thread that makes it; of a GPU the caching allocator knows
/// all, but single changes ("[memory]") are those of this thread and of autograd's threads under it.
class MemoryObserver {
 public:
  explicit MemoryObserver(std::optional<int> gpu);
  ~MemoryObserver();
  /// Counters: what is held now, and the most so far; of a GPU also what its allocator has reserved.
  void record() const;
  /// Held by tensors that this thread, or autograd for it, has made since.
  [[nodiscard]] std::int64_t allocated_bytes() const;

 private:
  struct Counter;
  std::optional<int> gpu_;
  std::shared_ptr<Counter> counter_;
  c10::DebugInfoGuard guard_;
};

}  // namespace rankscope::trainer
