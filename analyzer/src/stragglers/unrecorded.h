// Collectives that the recorder knows it could not record: ranks may wait for each other in them unseen.
#pragma once

#include <string>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// "collectives of the mpi backend are not recorded; ..."; empty if the recorder did not report any.
[[nodiscard]] std::string unrecorded_collectives(const Run& run);

}  // namespace rankscope::analyzer
