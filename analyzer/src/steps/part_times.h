// Times in the parts of digests: each as its distance from one that was written before.
#pragma once

#include <cstdint>

#include "rankscope/core/digest/part_bytes.h"
#include "rankscope/core/time.h"

namespace rankscope::analyzer {

void write_time(digest::PartWriter& out, RunTime time, RunTime since);
/// At most 146 years from 0, so that differences fit; the reader fails where it is farther.
[[nodiscard]] RunTime read_time(digest::PartReader& in, RunTime since);
/// Nor may it end before it begins.
[[nodiscard]] TimeRange read_range(digest::PartReader& in, RunTime since);
void write_range(digest::PartWriter& out, TimeRange range, RunTime since);

}  // namespace rankscope::analyzer
