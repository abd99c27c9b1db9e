// Faults with known rank, kind and size, injected on purpose: the truth that verdicts are checked against.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/result.h"

namespace rankscope::trainer {

/// What the trainer can do wrong on purpose, so that reports can be tested.
enum class FaultKind : std::uint8_t {
  slow,   ///< every block of the rank takes factor times its time
  data,   ///< the loader hands each batch over ms later
  pause,  ///< the host stalls for ms, once in every `every` steps, outside all classified spans
  comm,   ///< one operation of each step starts ms after it was enqueued: the last bucket or send; of tp the first one
  exit,   ///< the process ends with status 3 in the step
  kill,   ///< the process kills itself with SIGKILL in the step
  hang,   ///< the process stands still in the step, for ever
  nan,    ///< the loss of the rank is not a number in the step
  corrupt,  ///< behind the step's update a bit flips in a parameter of the rank
};

/// One `--fault` option.
struct Fault {
  FaultKind kind = FaultKind::slow;
  int rank = -1;
  double factor = 1.0;
  std::chrono::nanoseconds delay{0};
  std::int64_t every = 1;
  std::int64_t step = 0;  ///< step of those that happen once; first step that the others act in
  bool operator==(const Fault&) const = default;
};

/// Reads `slow:rank=2,factor=1.5`; the error says what is wrong and shows the form of that kind.
[[nodiscard]] Result<Fault> parse_fault(std::string_view text);

/// The same fault as text, keys in a fixed order; `parse_fault` reads it back.
[[nodiscard]] std::string fault_text(const Fault& fault);

/// The first step in which it acts.
[[nodiscard]] std::int64_t first_step_of(const Fault& fault);

/// All of them, joined by "; "; empty without faults.
[[nodiscard]] std::string all_fault_texts(std::span<const Fault> faults);

/// Forms of all kinds, for --help.
[[nodiscard]] std::string fault_forms();

/// Whether it happens in one step only. A training that was started again does not suffer it a second time.
[[nodiscard]] bool happens_once(FaultKind kind);

/// What one rank must do to itself, step by step.
class FaultPlan {
 public:
  FaultPlan() = default;
  FaultPlan(std::span<const Fault> faults, int rank);

  [[nodiscard]] double compute_factor(std::int64_t step) const;
  [[nodiscard]] std::chrono::nanoseconds data_delay(std::int64_t step) const;
  [[nodiscard]] std::chrono::nanoseconds pause(std::int64_t step) const;
  [[nodiscard]] std::chrono::nanoseconds comm_delay(std::int64_t step) const;
  /// Of kinds that happen once.
  [[nodiscard]] bool happens(FaultKind kind, std::int64_t step) const;

 private:
  [[nodiscard]] std::chrono::nanoseconds total_delay(FaultKind kind, std::int64_t step) const;
  std::vector<Fault> faults_;
};

}  // namespace rankscope::trainer
