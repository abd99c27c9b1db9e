// The block "rankscope" of a Kineto file: what Kineto has no place for (docs/kineto.md).
#pragma once

#include <cstdint>
#include <span>

#include "exports/kineto/rows.h"
#include "exports/shared/text_writer.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

struct KinetoWords;

/// Writes the block and a comma before it. Runs that are no Kineto traces themselves have their lanes and collectives
/// in it, so that they come back as they were.
void write_own_block(const Run& run, std::uint32_t process, std::span<const KinetoRow> rows, const KinetoWords& words,
                     TextWriter& out);

}  // namespace rankscope::analyzer
