// rankscope whatif: what steps would take after changes that the user names (metrics.md 12.10).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/colour.h"
#include "rankscope/analyzer/options.h"
#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// What steps would take; lengths in ns.
struct Prediction {
  std::vector<std::string> fixes;  ///< as given; applied together
  std::int64_t changed = 0;        ///< how many lengths of operations, hosts, transfers and delays differ
  std::int64_t saved_ns = 0;       ///< their sum over all ranks and steps; negative: they became longer
  std::int64_t mean_ns = 0;        ///< of a step
  std::int64_t median_ns = 0;
  std::vector<std::int64_t> walls_ns;  ///< of each step
};

/// What fixes would change, each by itself and all together, against the replay of the recording as it is.
struct WhatIfAnswer {
  std::vector<std::int64_t> steps;  ///< indices; empty: no steps are known, the whole recording is taken as one
  double replay_error = 0;          ///< of the unchanged recording, as a share of it
  Prediction unchanged;             ///< replayed; what is predicted is compared with it
  std::vector<Prediction> alone;    ///< one per fix, where there are several
  Prediction together;
  std::vector<std::string> doubts;  ///< what the prediction does not know, in sentences
};

/// `usage` for a text that is no fix, or that means nothing in this recording; `not_computable` where nothing can be
/// replayed, or where the replay misses what was measured by 5 % or more.
[[nodiscard]] Result<WhatIfAnswer> what_if(const Run& run, const ReportOptions& options,
                                           std::span<const std::string> fixes);

[[nodiscard]] std::string render_what_if_text(const WhatIfAnswer& answer, Colour colour);
/// Schema rankscope.whatif/1, in docs/whatif.md.
[[nodiscard]] std::string render_what_if_json(const WhatIfAnswer& answer);
/// The same schema where nothing can be predicted.
[[nodiscard]] std::string render_no_what_if_json(std::string_view why);

/// One kind of fix.
struct FixInfo {
  std::string_view form;  ///< as a user writes it: "rank:R", "op:GLOB[*F]", "network"
  std::string_view meaning;
};
/// All there are, in the order of the help.
[[nodiscard]] std::vector<FixInfo> fix_infos();

/// "rank:R, host:NAME, ...", one line each with what it means, for --help.
[[nodiscard]] std::string fixes_help();

}  // namespace rankscope::analyzer
