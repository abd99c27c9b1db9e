// Numbers of which each is given once.
#pragma once

#include <cstdint>
#include <iterator>
#include <limits>
#include <map>

namespace rankscope::analyzer {

/// Gives the wanted number, or the next above it that is free. As fast for numbers that all want the same place.
class FreeNumbers {
 public:
  std::int64_t take(std::int64_t wanted) {
    constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
    auto next = stretches_.upper_bound(wanted);
    std::int64_t free = wanted;
    if (next != stretches_.begin() && std::prev(next)->second >= wanted) {
      if (std::prev(next)->second == largest) return take(0);  // nothing is left above
      free = std::prev(next)->second + 1;
    }
    insert(free, next);
    return free;
  }

 private:
  using Stretches = std::map<std::int64_t, std::int64_t>;  // taken without a gap: first to last

  void insert(std::int64_t number, Stretches::iterator next) {
    std::int64_t last = number;
    if (next != stretches_.end() && next->first - 1 == number) {
      last = next->second;
      next = stretches_.erase(next);
    }
    if (next != stretches_.begin() && std::prev(next)->second + 1 == number)
      std::prev(next)->second = last;
    else
      stretches_.emplace(number, last);
  }

  Stretches stretches_;
};

}  // namespace rankscope::analyzer
