// The ranks' meeting point, groups of them, and the answer to "who is gone?".
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/comm/comm.h"
#include "rankscope/trainer/launch/placement.h"

namespace rankscope::trainer {

/// What the members of a group do with each other.
enum class Traffic : std::uint8_t {
  collectives,  ///< and perhaps sends and receives that both sides begin at the same time
  stages,       ///< sends and receives of a pipeline, between neighbours in a ring
};

/// The store at which the ranks of a run meet, and what it takes to make groups of them.
class Rendezvous {
 public:
  /// Connects to the store (rank 0 serves it unless an agent does). Port in use: error of kind cannot_write.
  /// Devices that do not fit together: one of kind usage.
  [[nodiscard]] static Result<std::unique_ptr<Rendezvous>> meet(const Placement& place, std::chrono::seconds timeout);
  ~Rendezvous();

  /// A new group, over Gloo, or NCCL where ranks train on GPUs. All members call this in the same order.
  [[nodiscard]] Result<std::unique_ptr<Comm>> make_group(const std::string& name, std::vector<int> members,
                                                         Traffic traffic = Traffic::collectives);

  /// Call it after the last group was made: waits until all ranks have made theirs. A rank that refuses its options and
  /// ends would otherwise close connections that others are still making. After the time limit of the run, or if rank 0
  /// has ended, it returns all the same: the first operation then fails, and says who is gone.
  void wait_for_groups();

  /// For the first rank that ends for a reason that others may have, too: how many of those found the same within a
  /// second, after which it logs it and calls mark_reported(). Nothing for the others, once the first one has.
  [[nodiscard]] std::optional<int> others_who_found(const std::string& reason);
  void mark_reported(const std::string& reason);

  /// Which peers are dead or stopped, or, where the `failure` is a wait that became too long, which ones did not fail
  /// so themselves; as a sentence, "" where nobody can be named. The first rank that tells decides for all.
  [[nodiscard]] std::string who_is_gone(const std::string& failure);

 private:
  struct Parts;
  explicit Rendezvous(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace rankscope::trainer
