// The local half of copies (metrics.md 4.7): what one rank copied, and what its host waited for, whichever steps count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "copies/host_calls.h"
#include "rankscope/core/digest/part_bytes.h"
#include "steps/part_texts.h"
#include "steps/time_cells.h"

namespace rankscope::analyzer {

/// Copies and calls of one rank by cell of its time (TimeCells). Strings are rows of `texts`.
struct CopiesPart {
  /// Copies of one name that begin in one cell; `exposed_ns` is of the cell, wherever they begin.
  struct Copies {
    std::uint32_t name = 0;
    std::uint32_t cell = 0;
    std::int64_t count = 0;
    std::int64_t sum_ns = 0;
    std::int64_t bytes = 0;           ///< of `sized`
    std::int64_t sized = 0;           ///< whose bytes are known and fit the sum
    std::int64_t too_large = 0;       ///< whose bytes do not fit
    std::int64_t unmeasured = 0;      ///< without length, or not in `sized`
    std::int64_t measured_bytes = 0;  ///< of all but `unmeasured`
    std::int64_t measured_ns = 0;
    std::int64_t exposed_ns = 0;  ///< while neither compute nor communication ran
    bool operator==(const Copies&) const = default;
  };
  /// As CallKey and CallSum.
  struct Calls {
    CallUse use = CallUse::copy;
    std::uint32_t call = 0;
    std::uint32_t op = no_text;
    std::uint32_t range = no_text;
    std::uint32_t cell = 0;
    bool before_work = false;
    std::int64_t count = 0;
    std::int64_t ns = 0;
    bool operator==(const Calls&) const = default;
  };

  std::vector<std::string> texts;
  std::vector<Copies> copies;  ///< by (name, cell), each once
  std::vector<Calls> calls;
  bool operator==(const CopiesPart&) const = default;
};

/// Makes the parts of the ranks of one run.
class LocalCopies {
 public:
  explicit LocalCopies(const Run& run);
  [[nodiscard]] CopiesPart of(RankId rank, const TimeCells& cells);

 private:
  [[nodiscard]] std::optional<SpanId> blocking_call(SpanId copy) const;

  const Run& run_;
  StringId bytes_;  // the key of the attribute
  HostCalls calls_;
};

void write_part(digest::PartWriter& out, const CopiesPart& part);
/// Where the reader has failed, the part means nothing.
[[nodiscard]] CopiesPart read_copies_part(digest::PartReader& in, const TimeCells& cells);

}  // namespace rankscope::analyzer
