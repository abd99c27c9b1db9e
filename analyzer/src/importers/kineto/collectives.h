// Rows of Run::collectives() from communication kernels, with what the host said about them.
#pragma once

#include <span>
#include <vector>

#include "importers/kineto/trace_file.h"

namespace rankscope::analyzer::kineto {

/// A row, and which of its numbers only the other ranks' rows can prove.
struct DescribedCollective {
  NewCollective row;
  bool sequence_from_inputs = false;
  bool is_pair = false;     ///< send or receive
  bool names_root = false;  ///< its peer is the root that the file names
};

/// Those of one file, by time, and its groups.
[[nodiscard]] std::vector<DescribedCollective> describe_collectives(const TraceFile& file, RankId rank,
                                                                    std::span<const std::uint32_t> calls,
                                                                    RunBuilder& run);

/// Adds those of all files; what contradicts itself in a group is left out.
void add_collectives(std::span<const DescribedCollective> rows, RunBuilder& run);

}  // namespace rankscope::analyzer::kineto
