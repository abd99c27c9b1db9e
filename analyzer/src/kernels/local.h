// The local half of kernels (metrics.md 4.1, 4.2): what ran on the accelerators of one rank, whichever steps count.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel_names.h"
#include "math/key_numbers.h"
#include "rankscope/analyzer/kernels/section.h"
#include "rankscope/core/digest/part_bytes.h"
#include "steps/part_texts.h"
#include "steps/time_cells.h"

namespace rankscope::analyzer {

/// The device work of one rank by kernel and cell of its time (TimeCells).
struct KernelsPart {
  /// Strings are rows of `texts`.
  struct Key {
    std::uint32_t name = 0;
    std::uint32_t grid = no_text;  ///< no_text: not recorded
    std::uint32_t block = no_text;
    ActivityClass kind = ActivityClass::compute;
    bool operator==(const Key&) const = default;
  };
  /// The activities of one key that begin in one cell, and the time of the cell that is charged to the key.
  struct Entry {
    std::uint32_t key = 0;
    std::uint32_t cell = 0;
    std::uint32_t first = 0;        ///< number of the first activity of the rank that is meant, by begin
    std::uint32_t begun = 0;        ///< how many begin in the cell: as many of `durations`
    std::int64_t exclusive_ns = 0;  ///< metrics.md C8
    bool operator==(const Entry&) const = default;
  };

  std::vector<std::string> texts;
  std::vector<Key> keys;
  std::vector<Entry> entries;           ///< by (key, cell), each once
  std::vector<std::int64_t> durations;  ///< whole ones in ns, in the order of the entries, ascending inside each
  std::vector<std::array<std::int64_t, together_count>> together;  ///< ns by bounded cell, as in RankKernels
  bool operator==(const KernelsPart&) const = default;
};

/// Makes the parts of the ranks of one run.
class LocalKernels {
 public:
  explicit LocalKernels(const Run& run);
  [[nodiscard]] KernelsPart of(RankId rank, const TimeCells& cells);

 private:
  [[nodiscard]] std::vector<std::uint32_t> keys_of(std::span<const Activity> activities, KernelsPart& part);

  const Run& run_;
  KernelKeys key_of_;
  KeyNumbers<KernelKey> numbers_;           // of all ranks so far
  std::vector<std::uint32_t> key_in_part_;  // by number; 0xFFFFFFFF: not in the part that is made
};

void write_part(digest::PartWriter& out, const KernelsPart& part);
/// Where the reader has failed, the part means nothing.
[[nodiscard]] KernelsPart read_kernels_part(digest::PartReader& in, const TimeCells& cells);

}  // namespace rankscope::analyzer
