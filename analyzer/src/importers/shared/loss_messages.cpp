#include "importers/shared/loss_messages.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include "rankscope/core/numbers.h"
#include "words/letters.h"

namespace rankscope::analyzer {
namespace {

constexpr std::array<std::string_view, 5> losses{"dropped", "discarded", "lost", "overflow", "exceeded max"};
/// "Dropped 12 activity records" and "Exceeded max GPU buffer count" are CUPTI's, in the log of libkineto.
constexpr std::array<std::string_view, 6> read_kinds{"cuda", "cupti", "nvtx", "nccl", "activity record", "gpu buffer"};

/// "dropped: 0"
bool is_none(std::string_view after_loss) {
  const std::size_t at = after_loss.find_first_not_of(": \t");
  return at != std::string_view::npos && leading_number<std::uint64_t>(after_loss.substr(at)) == 0U;
}

}  // namespace

bool reports_lost_events(std::string_view message) {
  const std::string small = lower(message);
  const std::string_view text = small;
  const auto states = [text](std::string_view loss) {
    const std::size_t at = text.find(loss);
    return at != std::string_view::npos && !is_none(text.substr(at + loss.size()));
  };
  const auto names = [text](std::string_view kind) { return text.find(kind) != std::string_view::npos; };
  return std::ranges::any_of(losses, states) && std::ranges::any_of(read_kinds, names);
}

}  // namespace rankscope::analyzer
