// Which kinds of records CUPTI is asked for, and when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cupti/library.h"
#include "cupti/records.h"

namespace rankscope::inject::cupti {

/// Not for several threads at a time, and never from a callback of CUPTI.
class Kinds {
 public:
  /// Asks for all that the user wants. A sentence if one of them is refused; the others are recorded.
  std::string enable(const collectors::cupti::Functions& call);
  /// Asks once more for what is there to be told when CUDA is being initialised, and was refused then. A sentence,
  /// once, if it is refused for good.
  std::string ask_again(const collectors::cupti::Functions& call);
  /// What the program's threads pay for is not asked for until wake(): calls, events and waits. Kernels and copies
  /// stay: CUPTI prepares the device and CUDA graphs for them, which must not come in the middle of a program.
  void rest(const collectors::cupti::Functions& call);
  void wake(const collectors::cupti::Functions& call);
  [[nodiscard]] bool resting() const { return resting_; }
  /// From now on, of the calls only those with which NCCL launches kernels: they say when a collective ran. False: this
  /// version cannot tell calls apart.
  [[nodiscard]] bool thin(const collectors::cupti::Functions& call);
  /// True for a kind that was asked for and not refused.
  [[nodiscard]] bool has(collectors::cupti::Kind kind) const;
  /// For good.
  void disable(const collectors::cupti::Functions& call);

 private:
  using Kind = collectors::cupti::Kind;
  enum class Existing : std::uint8_t { skip, tell };  ///< records of what was made before
  std::string add(const collectors::cupti::Functions& call, Kind kind, Existing existing);

  std::vector<Kind> enabled_;  ///< that were not refused
  void leave_out_calls(const collectors::cupti::Functions& call) const;

  static constexpr int most_attempts = 10;

  std::vector<Kind> refused_at_first_;
  int attempts_ = 0;
  bool resting_ = false;
  bool thinned_ = false;
};

}  // namespace rankscope::inject::cupti
