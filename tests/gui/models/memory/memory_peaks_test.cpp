// Peaks of any range against an answer that reads every value.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "rankscope/gui/models/memory/memory_peaks.h"

namespace rankscope::gui {
namespace {

using analyzer::MemoryLine;
using analyzer::MemoryValue;

MemoryLine random_line(std::size_t count, bool sampled) {
  std::mt19937 random{7};
  MemoryLine line;
  line.sampled = sampled;
  for (std::size_t i = 0; i < count; ++i)
    line.values.push_back({at(static_cast<std::int64_t>(i) * 10), static_cast<std::int64_t>(random() % 50)});
  return line;
}

std::optional<MemoryValue> read_all(const MemoryLine& line, TimeRange range) {
  std::optional<MemoryValue> best;
  const auto consider = [&](MemoryValue value) {
    value.time = std::max(value.time, range.begin);
    if (!best || value.bytes > best->bytes) best = value;
  };
  const MemoryValue* before = nullptr;
  for (const MemoryValue& value : line.values) {
    if (value.time >= range.end) break;
    if (value.time < range.begin) {
      before = &value;
      continue;
    }
    if (before != nullptr && !line.sampled && value.time > range.begin) consider(*before);
    before = nullptr;
    consider(value);
  }
  if (before != nullptr && !line.sampled) consider(*before);
  return best;
}

TEST(MemoryPeaks, AreThoseOfReadingEveryValue) {
  std::mt19937 random{11};
  for (const bool sampled : {false, true})
    for (const std::size_t count : {1U, 31U, 32U, 33U, 1024U, 1025U, 40'000U}) {
      const MemoryLine line = random_line(count, sampled);
      const MemoryPeaks peaks{line};
      for (int i = 0; i < 50; ++i) {
        const auto begin = static_cast<std::int64_t>(random() % (count * 10 + 20)) - 10;
        const TimeRange range{at(begin), at(begin + 1 + static_cast<std::int64_t>(random() % (count * 10)))};
        EXPECT_EQ(peaks.in(range), read_all(line, range)) << count << " from " << begin;
      }
    }
}

}  // namespace
}  // namespace rankscope::gui
