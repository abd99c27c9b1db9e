// Calls of the host by where they were made: innermost operator and innermost annotation.
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/copies/section.h"
#include "steps/window_time.h"

namespace rankscope::analyzer {

/// True for calls that allocate or free memory of a device, or memory that it can reach.
[[nodiscard]] bool allocates_memory(std::string_view call);

/// Sums of calls that cost the host time.
class HostCalls {
 public:
  explicit HostCalls(const Run& run);

  /// `copies`: sorted ids of the calls that made the host wait for a copy. Calls count from `behind` on.
  void over(const Lane& lane, const WindowTime& windows, std::span<const SpanId> copies, RunTime behind);

  [[nodiscard]] std::vector<HostCallRow> blocking_copies() const { return rows_of(Use::copy); }
  [[nodiscard]] std::vector<HostCallRow> synchronizations() const { return rows_of(Use::synchronization); }
  [[nodiscard]] std::vector<HostCallRow> allocations() const { return rows_of(Use::allocation); }

 private:
  enum class Use : std::uint8_t { unknown, none, copy, synchronization, allocation };
  struct Place {
    StringId op{};
    StringId range{};
    auto operator<=>(const Place&) const = default;
  };
  struct Open {
    RunTime end;
    Place outside;
  };
  struct Key {
    Use use = Use::none;
    StringId call{};
    Place place;
    auto operator<=>(const Key&) const = default;
  };
  struct Sum {
    std::int64_t count = 0;
    std::int64_t ns = 0;
  };

  [[nodiscard]] Use use_of(const Span& span);
  void add(Use use, const Span& call, const Place& place);
  [[nodiscard]] std::vector<HostCallRow> rows_of(Use use) const;

  const Run& run_;
  std::vector<Use> uses_;  // by name
  std::map<Key, Sum> sums_;
};

}  // namespace rankscope::analyzer
