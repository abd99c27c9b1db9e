// The ranks' meeting point, Gloo groups, and the answer to "who is gone?".
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "engine/comm.h"
#include "rankscope/trainer/placement.h"

namespace rankscope::trainer {

/// The store at which the ranks of a run meet, and what it takes to make groups of them.
class Rendezvous {
 public:
  /// Connects to the store (rank 0 serves it unless an agent does). Port in use: error of kind cannot_write.
  [[nodiscard]] static Result<std::unique_ptr<Rendezvous>> meet(const Placement& place, std::chrono::seconds timeout);
  ~Rendezvous();

  /// A new group over Gloo. All members call this in the same order.
  [[nodiscard]] Result<std::unique_ptr<Comm>> make_group(const std::string& name, std::vector<int> members);

  /// Which peers are dead or stopped, or, where the `failure` is a wait that became too long, which ones did not fail
  /// so themselves; as a sentence, "" where nobody can be named. The first rank that tells decides for all.
  [[nodiscard]] std::string who_is_gone(const std::string& failure);

 private:
  struct Parts;
  explicit Rendezvous(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace rankscope::trainer
