// Memory that libtorch holds, for the recorder. Operator events are observed from set_up_torch (process.h) on.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/libtorch.h"

namespace rankscope::trainer {

/// Counts bytes that CPU tensors hold; from the thread that makes it and the autograd threads under it.
class MemoryObserver {
 public:
  MemoryObserver();
  ~MemoryObserver();
  [[nodiscard]] std::int64_t allocated_bytes() const;
  [[nodiscard]] std::int64_t peak_bytes() const;  ///< largest value so far

 private:
  struct Counter;
  std::shared_ptr<Counter> counter_;
  c10::DebugInfoGuard guard_;
};

}  // namespace rankscope::trainer
