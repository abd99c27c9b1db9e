// Calls of the host by where they were made: innermost operator and innermost annotation.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "rankscope/core/model/run_parts.h"
#include "steps/time_cells.h"

namespace rankscope::analyzer {

/// True for calls that allocate or free memory of a device, or memory that it can reach.
[[nodiscard]] bool allocates_memory(std::string_view call);

/// What a call that costs the host time does.
enum class CallUse : std::uint8_t {
  copy,             ///< returns only when the copy is done, or copies pageable memory
  synchronization,  ///< waits for the device
  allocation,       ///< allocates or frees
};
inline constexpr std::size_t call_use_count = 3;

/// Calls of one kind that were made at one place and began in one cell of the rank's time.
struct CallKey {
  CallUse use = CallUse::copy;
  StringId call{};
  StringId op{};     ///< none: inside no operator
  StringId range{};  ///< none: inside no annotation
  std::uint32_t cell = 0;
  bool before_work = false;  ///< of allocations: before the first device work of the rank
  auto operator<=>(const CallKey&) const = default;
};
struct CallSum {
  std::int64_t count = 0;
  std::int64_t ns = 0;
};

/// Sums of the calls of a rank, one rank after the other.
class HostCalls {
 public:
  explicit HostCalls(const Run& run);

  /// `copies`: sorted ids of the calls that made the host wait for a copy.
  void over(const Lane& lane, const TimeCells& cells, std::span<const SpanId> copies, RunTime first_work);
  /// What was added since the last call.
  [[nodiscard]] std::map<CallKey, CallSum> take() { return std::exchange(sums_, {}); }

 private:
  enum class Named : std::uint8_t { unknown, nothing, synchronization, allocation };
  struct Place {
    StringId op{};
    StringId range{};
  };
  struct Open {
    RunTime end;
    Place outside;
  };

  [[nodiscard]] Named named(StringId call);
  [[nodiscard]] std::optional<CallUse> use_of(const Span& span, std::span<const SpanId> copies);

  const Run& run_;
  std::vector<Named> named_;  // by name
  std::map<CallKey, CallSum> sums_;
};

}  // namespace rankscope::analyzer
