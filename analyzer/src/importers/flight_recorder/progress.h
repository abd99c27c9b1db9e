// A dump as the progress of its rank.
#pragma once

#include <cstdint>

#include "importers/flight_recorder/dump.h"
#include "importers/shared/comm_progress.h"

namespace rankscope::analyzer::flight_recorder {

/// Adds what the dump says of its rank, which must not be there yet, or without a witness. Nothing of `dump` is kept.
void add_dump(const PlainValues& values, const Dump& dump, std::uint32_t rank, JobProgress& job);

}  // namespace rankscope::analyzer::flight_recorder
