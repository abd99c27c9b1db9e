// Whether the timer of a GPU counts as fast as it should.
#pragma once

#include <cstdint>
#include <optional>

#include "inject/nccl/smallest_delay.h"

namespace rankscope::inject::nccl {

/// Compares how far the timer and the host's clock have advanced between the best times of two whole seconds. A host
/// that was late in a whole second refutes nothing yet. Of one thread at a time.
class TickProof {
 public:
  enum class Verdict : std::uint8_t { open, proven, refuted };
  static constexpr int most_refutations = 3;

  /// `next.gpu_ns` is right if the timer counts as it should.
  Verdict saw(const Noticed& next);

  /// The two times that were compared last; nothing before.
  [[nodiscard]] const std::optional<Noticed>& from() const { return from_; }
  [[nodiscard]] const std::optional<Noticed>& to() const { return to_; }

 private:
  Verdict verdict_ = Verdict::open;
  int refutations_ = 0;
  SmallestDelay seconds_;
  std::optional<Noticed> from_, to_;
};

}  // namespace rankscope::inject::nccl
