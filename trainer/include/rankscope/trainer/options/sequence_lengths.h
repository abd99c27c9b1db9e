// How long generated samples of tokens are: unequal ones give batches, and with them ranks, unequal work.
#pragma once

#include <cstdint>
#include <string>

#include "rankscope/core/result.h"

namespace rankscope::trainer {

/// How long samples of tokens are; equal seeds give equal lengths on all ranks.
struct SequenceLengths {
  /// From which distribution lengths are drawn.
  enum class Kind : std::uint8_t {
    full,       ///< all as long as the sequence
    uniform,    ///< every length from `shortest` to `longest` is as likely
    lognormal,  ///< many short ones, few long ones
  };
  Kind kind = Kind::full;
  std::int64_t shortest = 0;
  std::int64_t longest = 0;
  double median = 0;
  double sigma = 0;  ///< of the logarithm

  [[nodiscard]] bool vary() const { return kind != Kind::full; }
  /// Tokens of the sample with this number: 1 to `sequence`. Depends on the arguments alone.
  [[nodiscard]] std::int64_t length_of(std::uint64_t sample, std::uint64_t seed, std::int64_t sequence) const;
  bool operator==(const SequenceLengths&) const = default;
};

/// "full", "uniform:SHORTEST-LONGEST" or "lognormal:MEDIAN,SIGMA"; other text is an error of kind usage.
[[nodiscard]] Result<SequenceLengths> parse_sequence_lengths(const std::string& text);
/// What reads back as the same.
[[nodiscard]] std::string text_of(const SequenceLengths& lengths);

}  // namespace rankscope::trainer
