#include "rankscope/trainer/checkpoint/tensor.h"

#include <gtest/gtest.h>

namespace rankscope::trainer {
namespace {

TEST(ElementTypes, HaveTheNamesAndSizesOfTheFormat) {
  EXPECT_EQ(name_of(ElementType::boolean), "BOOL");
  EXPECT_EQ(name_of(ElementType::f8_e4m3), "F8_E4M3");
  EXPECT_EQ(name_of(ElementType::f64), "F64");
  EXPECT_EQ(bytes_of(ElementType::bf16), 2);
  EXPECT_EQ(bytes_of(ElementType::i64), 8);
  for (int i = 0; i <= static_cast<int>(ElementType::f64); ++i) {
    const auto type = static_cast<ElementType>(i);
    EXPECT_EQ(element_type_named(name_of(type)), type) << name_of(type);
  }
  EXPECT_FALSE(element_type_named("f32"));
  EXPECT_FALSE(element_type_named(""));
}

TEST(TensorShape, CountsItsElementsWhereTheirBytesFit) {
  EXPECT_EQ(elements_of({"scalar", ElementType::f32, {}}), 1);
  EXPECT_EQ(elements_of({"matrix", ElementType::f32, {3, 5}}), 15);
  EXPECT_EQ(elements_of({"none", ElementType::f32, {3, 0, INT64_MAX, INT64_MAX}}), 0);
  EXPECT_EQ(elements_of({"largest", ElementType::u8, {INT64_MAX}}), INT64_MAX);
  EXPECT_FALSE(elements_of({"its bytes do not fit", ElementType::u16, {INT64_MAX}}));
  EXPECT_FALSE(elements_of({"its product wraps to 0", ElementType::u8, {1LL << 32, 1LL << 32}}));
  EXPECT_FALSE(elements_of({"negative", ElementType::u8, {-1}}));
  EXPECT_FALSE(elements_of({"negative times none", ElementType::u8, {0, -1}}));
}

TEST(TensorNames, TellPartsOfASplitApart) {
  EXPECT_EQ(part_name("layer0.linear.weight", "tp", 1, 2), "layer0.linear.weight@tp1of2");
  EXPECT_TRUE(is_tensor_name("layer0.linear.weight/momentum@tp1of2"));
  for (const char* name : {"", "a b", "a[0:2]", "tab\t", "umlaut \xC3\xA4", "__metadata__"}) {
    EXPECT_FALSE(is_tensor_name(name)) << name;
  }
}

}  // namespace
}  // namespace rankscope::trainer
