// Collectives from communication kernels and what the host said when it launched them.
#pragma once

#include <span>
#include <vector>

#include "importers/nsys/activities.h"
#include "importers/nsys/nvtx.h"

namespace rankscope::analyzer::nsys {

/// The communication of one file, when all its tables have been read.
struct FileCommunication {
  std::map<ProcessKey, RankId> ranks{};
  std::vector<CommKernel> kernels{};
  CallsByThread calls{};
  std::vector<Joined> joined{};
};

/// May the device times of different processes be compared?
enum class ClockReach : std::uint8_t { all_processes, each_file };

/// Adds a row for each kernel of a process that has a rank. With payloads the group is the communicator; without, it is
/// guessed from operation, stream and order; rows for which even that fails have no group and are counted
/// (no_comm_args).
void add_collectives(RunBuilder& builder, std::span<const FileCommunication> files, ClockReach clocks);

}  // namespace rankscope::analyzer::nsys
