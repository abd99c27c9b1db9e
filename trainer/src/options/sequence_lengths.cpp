#include "rankscope/trainer/options/sequence_lengths.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string_view>

#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "rankscope/trainer/layout/sampler.h"

namespace rankscope::trainer {
namespace {

constexpr std::int64_t longest_sequence = 65536;  // as --seq
constexpr double largest_sigma = 4;

// Uniform in (0, 1).
double unit(std::uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

double normal(std::uint64_t bits) {
  const double radius = std::sqrt(-2 * std::log(unit(mix(bits, 0))));
  return radius * std::cos(2 * std::numbers::pi * unit(mix(bits, 1)));
}

/// The two numbers around `between`.
template <class First, class Second>
std::optional<std::pair<First, Second>> two_numbers(std::string_view text, char between) {
  const std::size_t at = text.find(between);
  if (at == std::string_view::npos) return std::nullopt;
  const auto first = number_from<First>(text.substr(0, at));
  const auto second = number_from<Second>(text.substr(at + 1));
  if (!first || !second) return std::nullopt;
  return std::pair{*first, *second};
}

std::optional<SequenceLengths> uniform(std::string_view text) {
  const auto range = two_numbers<std::int64_t, std::int64_t>(text, '-');
  if (!range || range->first < 1 || range->second < range->first || range->second > longest_sequence) return {};
  return SequenceLengths{.kind = SequenceLengths::Kind::uniform, .shortest = range->first, .longest = range->second};
}

std::optional<SequenceLengths> lognormal(std::string_view text) {
  const auto numbers = two_numbers<double, double>(text, ',');
  if (!numbers) return {};
  const auto [median, sigma] = *numbers;
  const bool is_usable = median >= 1 && median <= static_cast<double>(longest_sequence) && sigma > 0;
  if (!is_usable || sigma > largest_sigma) return {};
  return SequenceLengths{.kind = SequenceLengths::Kind::lognormal, .median = median, .sigma = sigma};
}

}  // namespace

std::int64_t SequenceLengths::length_of(std::uint64_t sample, std::uint64_t seed, std::int64_t sequence) const {
  const std::uint64_t bits = mix(mix(seed, sample), 0x6c656e67746873);  // a stream of its own: "lengths"
  std::int64_t length = sequence;
  if (kind == Kind::uniform)
    length = shortest + static_cast<std::int64_t>(bits % static_cast<std::uint64_t>(longest - shortest + 1));
  if (kind == Kind::lognormal) length = std::llround(median * std::exp(sigma * normal(bits)));
  return std::clamp<std::int64_t>(length, 1, sequence);
}

Result<SequenceLengths> parse_sequence_lengths(const std::string& text) {
  const std::string_view all = text;
  std::optional<SequenceLengths> lengths;
  if (all == "full") lengths.emplace();
  if (all.starts_with("uniform:")) lengths = uniform(all.substr(8));
  if (all.starts_with("lognormal:")) lengths = lognormal(all.substr(10));
  if (lengths) return *lengths;
  return fail(
      ErrorKind::usage,
      format("--seq-dist {}: must be full, uniform:SHORTEST-LONGEST in tokens (1 to {}) or lognormal:MEDIAN,SIGMA "
             "with SIGMA up to {}, such as lognormal:32,0.8",
             text, longest_sequence, largest_sigma));
}

std::string text_of(const SequenceLengths& lengths) {
  switch (lengths.kind) {
    case SequenceLengths::Kind::full:
      return "full";
    case SequenceLengths::Kind::uniform:
      return format("uniform:{}-{}", lengths.shortest, lengths.longest);
    case SequenceLengths::Kind::lognormal:
      return format("lognormal:{},{}", lengths.median, lengths.sigma);
  }
  return {};
}

}  // namespace rankscope::trainer
