// A recording of each released minor version is read for ever; the samples are never made anew.
#include <gtest/gtest.h>

#include "rankscope/core/model/run.h"
#include "rankscope/core/recording/recording.h"

namespace rankscope::recording {
namespace {

const std::filesystem::path samples = RANKSCOPE_SAMPLES;

TEST(OlderFormats, Version1_0) {
  const auto run = read_recording(samples / "demo.rankscope");
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->ranks().size(), 4U);
  EXPECT_EQ((*run)->quality().of(Counter::records_unknown), 0U);
}

TEST(OlderFormats, Version1_1DescribesMarksAndStartedRanges) {
  const auto run = read_recording(samples / "format_1_1.rankscope");
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->marks().size(), 2U);
  for (const Mark& mark : (*run)->marks()) {
    int described = 0;
    for (const Attribute& attribute : (*run)->attributes_of(mark))
      described += (*run)->text(attribute.key) == "category" || (*run)->text(attribute.key) == "payload" ? 1 : 0;
    EXPECT_EQ(described, 2) << (*run)->text(mark.name);
  }
  for (const Span& span : (*run)->spans()) EXPECT_FALSE((*run)->attributes_of((*run)->id_of(span)).empty());
  EXPECT_EQ((*run)->quality().of(Counter::records_unknown), 0U);
}

}  // namespace
}  // namespace rankscope::recording
