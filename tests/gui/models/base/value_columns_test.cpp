// Samples by pixel.
#include <gtest/gtest.h>

#include <array>

#include "rankscope/core/model/process.h"
#include "rankscope/gui/models/base/value_columns.h"

namespace rankscope::gui {
namespace {

using Columns = std::vector<std::optional<ValueColumn>>;

Columns columns(std::span<const CounterSample> samples, TimeScale scale) {
  const lod::ValueLod lod{samples.size(), [samples](std::size_t i) { return samples[i].value; }};
  return value_columns(samples, lod, scale, [](const CounterSample& sample) { return sample.value; });
}

TEST(ValueColumns, HoldTheLastValueAndHaveNothingBeforeTheFirst) {
  const std::array<CounterSample, 2> samples{{{at(15), 4}, {at(35), 2}}};
  const Columns found = columns(samples, {.time = {at(0), at(50)}, .left = 0, .width = 5});
  EXPECT_EQ(found, (Columns{std::nullopt, ValueColumn{4, 4, 4}, ValueColumn{4, 4, 4}, ValueColumn{2, 4, 2},
                            ValueColumn{2, 2, 2}}));
}

TEST(ValueColumns, KnowWhatWasBeforeTheRange) {
  const std::array<CounterSample, 2> samples{{{at(0), 7}, {at(200), 9}}};
  EXPECT_EQ(columns(samples, {.time = {at(100), at(110)}, .left = 0, .width = 1}), (Columns{ValueColumn{7, 7, 7}}));
}

TEST(ValueColumns, KeepTheLeastAndGreatestOfManyInOnePixel) {
  const std::array<CounterSample, 4> samples{{{at(1), 5}, {at(2), 1}, {at(3), 9}, {at(4), 3}}};
  const Columns found = columns(samples, {.time = {at(0), at(20)}, .left = 30, .width = 2});
  EXPECT_EQ(found, (Columns{ValueColumn{1, 9, 3}, ValueColumn{3, 3, 3}}));
}

}  // namespace
}  // namespace rankscope::gui
