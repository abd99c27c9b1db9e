// What HTA would say of this run (metrics.md 19), and the parts of it by file.
#pragma once

#include "hta/rows.h"

namespace rankscope::analyzer {

[[nodiscard]] Section<HtaSection> hta_numbers(const Run& run, HtaLastStep last_step);

// hta_times.cpp: 19.4, 19.5
[[nodiscard]] Section<HtaTimes> hta_times(const HtaRows& rows, HtaNames& names);
[[nodiscard]] Ratio hta_overlap_percent(const HtaRows& rows, HtaNames& names);
[[nodiscard]] std::vector<HtaTypeTime> hta_types(std::span<const HtaRows> ranks, HtaNames& names);
// hta_kernels.cpp: 19.5
[[nodiscard]] std::vector<HtaKernel> hta_kernels(const Run& run, const HtaRows& rows, HtaNames& names);
// hta_streams.cpp: 19.6, 19.8
[[nodiscard]] std::vector<HtaStreamIdle> hta_idle(const Run& run, const HtaRows& rows);
[[nodiscard]] std::vector<HtaQueue> hta_queues(const Run& run, const HtaRows& rows, HtaNames& names);
// hta_launches.cpp: 19.7
[[nodiscard]] HtaLaunches hta_launches(const HtaRows& rows, HtaNames& names);
// hta_stragglers.cpp: 19.9
[[nodiscard]] Section<HtaStragglers> hta_stragglers(std::span<const HtaRows> ranks, HtaNames& names);

}  // namespace rankscope::analyzer
