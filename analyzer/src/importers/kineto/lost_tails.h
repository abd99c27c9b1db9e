// Ranks of which the profiler lost the last events, although their files are whole.
#pragma once

#include <span>

#include "importers/kineto/trace_file.h"

namespace rankscope::analyzer::kineto {

/// Marks the steps that reach past the last event of such a rank as cut, and counts the rank (tails_lost). A rank's
/// tail is lost if the other ranks go on for more than a tenth of its recording, and for more than 1 ms, after its last
/// work, unless its own profiler was stopped then; or if that is so of its devices alone, and calls that launched work
/// after it have none. `ranks`: those of the files. Times must be those
/// of one axis.
void mark_lost_tails(std::span<const TraceFile> files, std::span<const RankId> ranks, RunBuilder& run);

}  // namespace rankscope::analyzer::kineto
