// Level of detail of a curve: the least and the greatest value of any stretch of it.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace rankscope::lod {

/// What is not a number is no value, unless there is nothing else.
struct Bounds {
  double least = 0;
  double greatest = 0;
  [[nodiscard]] Bounds with(Bounds other) const {
    return {std::fmin(least, other.least), std::fmax(greatest, other.greatest)};
  }
  bool operator==(const Bounds&) const = default;
};

/// Built once from values that it does not keep: half a byte for each. Both calls want a function that has the value of
/// an index. An answer reads about a hundred values, however many there are.
class ValueLod {
 public:
  ValueLod() = default;
  template <class ValueAt>
  ValueLod(std::size_t count, ValueAt value_at) {
    const auto sum_up = [](std::size_t below, auto bounds_at) {
      std::vector<Bounds> level;
      level.reserve(below / fan_out);
      for (std::size_t first = 0; first + fan_out <= below; first += fan_out) {
        Bounds sum = bounds_at(first);
        for (std::size_t i = first + 1; i < first + fan_out; ++i) sum = sum.with(bounds_at(i));
        level.push_back(sum);
      }
      return level;
    };
    if (count < fan_out) return;
    levels_.push_back(sum_up(count, [&](std::size_t i) { return Bounds{value_at(i), value_at(i)}; }));
    while (levels_.back().size() >= fan_out) {
      const auto& below = levels_.back();
      levels_.push_back(sum_up(below.size(), [&below](std::size_t i) { return below[i]; }));
    }
  }

  /// Of the values [first, end), which are not empty.
  template <class ValueAt>
  [[nodiscard]] Bounds of(std::size_t first, std::size_t end, ValueAt value_at) const {
    Bounds all{value_at(first), value_at(first)};
    for (std::size_t i = first; i < end;) {
      std::size_t length = 1;
      const Bounds* block = nullptr;  // the largest one that begins here and fits
      for (const std::vector<Bounds>& level : levels_) {
        const std::size_t longer = length * fan_out;
        if (i % longer != 0 || i + longer > end) break;
        length = longer;
        block = &level[i / longer];
      }
      all = all.with(block != nullptr ? *block : Bounds{value_at(i), value_at(i)});
      i += length;
    }
    return all;
  }
  [[nodiscard]] std::size_t byte_count() const {
    std::size_t bytes = levels_.capacity() * sizeof(std::vector<Bounds>);
    for (const auto& level : levels_) bytes += level.capacity() * sizeof(Bounds);
    return bytes;
  }

 private:
  static constexpr std::size_t fan_out = 32;
  std::vector<std::vector<Bounds>> levels_;  // each has the whole blocks of the one below, the first one of values
};

}  // namespace rankscope::lod
