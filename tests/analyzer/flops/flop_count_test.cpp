#include "flops/count.h"

#include <gtest/gtest.h>

namespace rankscope::analyzer {
namespace {

/// A call as it is recorded. Values are those of Python, in JSON.
struct Call {
  std::string_view name;
  std::string_view sizes;
  std::string_view types = {};
  std::string_view values = {};
};

FlopResult count(const Call& call, const ConvolutionOutputs& convolutions = {}) {
  return flops_of(call.name, inputs_from(call.sizes, call.types, call.values), convolutions);
}
std::int64_t model(const Call& call) { return count(call).value().model; }
NotCountable why(const Call& call) { return count(call).error(); }

TEST(FlopCount, AProductIsTwiceItsThreeSizes) {
  EXPECT_EQ(model({"aten::mm", "[[2,3],[3,5]]"}), 60);
  EXPECT_EQ(model({"aten::addmm", "[[5],[2,3],[3,5],[],[]]"}), 60);
  EXPECT_EQ(model({"aten::_scaled_mm", "[[2,3],[3,5],[],[]]"}), 60);
  EXPECT_EQ(model({"aten::bmm", "[[7,2,3],[7,3,5]]"}), 420);
  EXPECT_EQ(model({"aten::baddbmm", "[[7,2,5],[7,2,3],[7,3,5],[],[]]"}), 420);
  EXPECT_EQ(model({"aten::mv", "[[2,3],[3]]"}), 12);
  EXPECT_EQ(model({"aten::addmv", "[[2],[2,3],[3],[],[]]"}), 12);
  EXPECT_EQ(model({"aten::dot", "[[3],[3]]"}), 6);
  EXPECT_EQ(model({"aten::linear", "[[4,2,3],[5,3],[5]]"}), 240);
}

TEST(FlopCount, NumbersOfAGroupedProductAreAssumed) {
  const auto of_experts = count({"aten::_grouped_mm", "[[100,3],[8,3,5],[8],[],[]]"}).value();
  EXPECT_EQ(of_experts.model, 3000);
  EXPECT_TRUE(of_experts.assumed) << "rows behind the last group are not computed";
  EXPECT_EQ(model({"aten::_grouped_mm", "[[8,2,3],[8,3,5],[],[],[]]"}), 480);
  EXPECT_EQ(model({"aten::_grouped_mm", "[[4,100],[100,5],[8],[],[]]"}), 4000);
}

TEST(FlopCount, AnEmptyProductIsNone) { EXPECT_EQ(model({"aten::mm", "[[0,3],[3,5]]"}), 0); }

TEST(FlopCount, SizesThatDoNotFitAreNotGuessed) {
  for (const char* const sizes : {"[[2,3],[4,5]]", "[[2,3]]", "[[2,3],[[3,5]]]", "[[2,3],[3,-5]]", "[[2,3],[3,5.5]]",
                                  "[[2,3],[3,\"5\"]]", "[[2,3,4],[3,5]]", "[[2,3],[3,18446744073709551615]]"})
    EXPECT_EQ(why({"aten::mm", sizes}), NotCountable::unusable_shapes) << sizes;
  EXPECT_EQ(why({"aten::bmm", "[[7,2,3],[6,3,5]]"}), NotCountable::unusable_shapes);
  EXPECT_EQ(why({"aten::linear", "[[],[5,3]]"}), NotCountable::unusable_shapes);
}

TEST(FlopCount, ProductsThatDoNotFit64BitsAreNotCounted) {
  EXPECT_EQ(why({"aten::mm", "[[4294967296,4294967296],[4294967296,4294967296]]"}), NotCountable::too_large);
  EXPECT_EQ(why({"aten::linear", "[[9223372036854775807,3,1],[5,1]]"}), NotCountable::too_large);
  EXPECT_EQ(model({"aten::mm", "[[4294967296,0],[0,4294967296]]"}), 0);
}

TEST(FlopCount, WithoutInputsNothingIsTold) {
  EXPECT_EQ(why({"aten::mm", ""}), NotCountable::no_shapes);
  EXPECT_EQ(why({"aten::mm", "{}"}), NotCountable::no_shapes);
  EXPECT_EQ(why({"aten::mm", "[[2,3],["}), NotCountable::no_shapes);
}

TEST(FlopCount, TheTypeIsThatOfTheFactors) {
  const auto precision = [](std::string_view type) {
    return count({"aten::addmm", "[[5],[2,3],[3,5]]", std::string{"[\"float\",\""}.append(type).append("\",\"\"]")})
        .value()
        .precision;
  };
  EXPECT_EQ(precision("float"), Precision::fp32);
  EXPECT_EQ(precision("double"), Precision::fp64);
  EXPECT_EQ(precision("c10::BFloat16"), Precision::bf16);
  EXPECT_EQ(precision("c10::Half"), Precision::fp16);
  EXPECT_EQ(precision("c10::Float8_e4m3fn"), Precision::fp8);
  EXPECT_EQ(precision("signed char"), Precision::int8);
  EXPECT_EQ(precision("something"), Precision::unknown);
  EXPECT_EQ(why({"aten::mm", "[[2,3],[3,5]]", "[\"c10::complex<float>\",\"c10::complex<float>\"]"}),
            NotCountable::complex_numbers);
}

// Input 1 x 3 x 8 x 8, 16 filters of 3 x 5 x 5, stride 2, padding 2: output 1 x 16 x 4 x 4.
constexpr std::int64_t of_convolution = 2 * 16 * (16 * 3 * 5 * 5);
constexpr std::string_view sizes_of_convolution = "[[1,3,8,8],[16,3,5,5],[16],[],[],[],[],[],[]]";

TEST(FlopCount, AConvolutionIsTwiceItsOutputPlaneAndItsWeight) {
  EXPECT_EQ(model({"aten::convolution", sizes_of_convolution, "",
                   R"(["","","","[2, 2]","[2, 2]","[1, 1]","False","[0, 0]","1"])"}),
            of_convolution);
  EXPECT_EQ(model({"aten::cudnn_convolution", sizes_of_convolution, "",
                   R"(["","","[2, 2]","[2, 2]","[1, 1]","1","False","False","True"])"}),
            of_convolution);
  EXPECT_EQ(model({"aten::miopen_convolution", sizes_of_convolution, "",
                   R"(["","","","[2, 2]","[2, 2]","[1, 1]","1","False","False"])"}),
            of_convolution);
}

TEST(FlopCount, GroupsAndDilationOfAConvolutionAreInItsSizes) {
  // 8 groups: each filter sees one channel. Kernel 3 with dilation 2 reaches over 5: output 1 x 8 x 6.
  EXPECT_EQ(model({"aten::convolution", "[[1,8,10],[8,1,3],[],[],[],[],[],[],[]]", "",
                   R"(["","","","[1]","[0]","[2]","False","[0]","8"])"}),
            2 * 6 * (8 * 1 * 3));
}

TEST(FlopCount, ATransposedConvolutionIsTwiceItsInputPlaneAndItsWeight) {
  EXPECT_EQ(model({"aten::convolution", "[[2,16,4,4],[16,3,5,5],[],[],[],[],[],[],[]]", "",
                   R"(["","","","[2, 2]","[2, 2]","[1, 1]","True","[1, 1]","1"])"}),
            2 * 2 * 16 * (16 * 3 * 5 * 5));
}

constexpr std::string_view sizes_of_backward = "[[1,16,4,4],[1,3,8,8],[16,3,5,5],[],[],[],[],[],[],[],[]]";

TEST(FlopCount, EachGradientOfAConvolutionCostsAsMuchAsTheForwardPass) {
  const auto with_mask = [](std::string_view mask) {
    return count({"aten::convolution_backward", sizes_of_backward, "",
                  std::string{R"(["","","","[16]","[2, 2]","[2, 2]","[1, 1]","False","[0, 0]","1",")"}.append(mask) +
                      "\"]"})
        .value();
  };
  EXPECT_EQ(with_mask("[True, True, False]").model, 2 * of_convolution);
  EXPECT_EQ(with_mask("[False, True, True]").model, of_convolution);
  EXPECT_EQ(with_mask("[False, False, True]").model, 0);
  EXPECT_FALSE(with_mask("[True, True, False]").assumed);
  EXPECT_FALSE(with_mask("[True, True, False]").forward);
  const auto without = count({"aten::convolution_backward", sizes_of_backward}).value();
  EXPECT_EQ(without.model, 2 * of_convolution);
  EXPECT_TRUE(without.assumed);
}

TEST(FlopCount, AConvolutionWithoutStridesIsToldByItsBackwardPass) {
  ConvolutionOutputs outputs;
  EXPECT_EQ(count({"aten::convolution", sizes_of_convolution}, outputs).error(), NotCountable::not_told_by_shapes);
  outputs.learn("aten::mm", inputs_from("[[1,3],[3,2],[2,2]]", "", ""));
  outputs.learn("aten::convolution_backward", inputs_from(sizes_of_backward, "", ""));
  EXPECT_EQ(count({"aten::convolution", sizes_of_convolution}, outputs).value().model, of_convolution);
  outputs.learn("aten::convolution_backward",
                inputs_from("[[1,16,8,8],[1,3,8,8],[16,3,5,5],[],[],[],[],[],[],[],[]]", "", ""));
  EXPECT_EQ(count({"aten::convolution", sizes_of_convolution}, outputs).error(), NotCountable::not_told_by_shapes)
      << "two strides";
}

TEST(FlopCount, HostileConvolutionsAreNotCounted) {
  const auto why_of = [](std::string_view sizes, std::string_view stride) {
    return count({"aten::convolution", sizes, "",
                  std::string{R"(["","","",")"}.append(stride) + R"(","[0, 0]","[1, 1]","False","[0, 0]","1"])"})
        .error();
  };
  constexpr std::string_view good = "[[1,3,8,8],[16,3,5,5]]";
  EXPECT_EQ(why_of(good, "[0, 0]"), NotCountable::unusable_shapes);
  EXPECT_EQ(why_of(good, "[1, 1, 1]"), NotCountable::unusable_shapes);
  EXPECT_EQ(why_of("[[1,3,4,4],[16,3,5,5]]", "[1, 1]"), NotCountable::unusable_shapes) << "the kernel is too large";
  EXPECT_EQ(why_of("[[1,3,8,8],[16,3]]", "[1, 1]"), NotCountable::unusable_shapes);
  EXPECT_EQ(why_of("[[1,3,9223372036854775807,8],[16,3,5,5]]", "[1, 1]"), NotCountable::unusable_shapes);
  EXPECT_EQ(why_of("[[4294967296,3,2147483647,8],[2147483647,3,5,5]]", "[1, 1]"), NotCountable::too_large);
}

// Batch 2, 4 heads, 8 positions that see 8, heads of 16 numbers: two products of 2 · 2 · 4 · 8 · 8 · 16.
constexpr std::int64_t one_product = 2 * 2 * 4 * 8 * 8 * 16;

TEST(FlopCount, AttentionIsTwoProducts) {
  const auto full = count({"aten::_scaled_dot_product_flash_attention", "[[2,4,8,16],[2,4,8,16],[2,4,8,16],[],[],[]]",
                           "", R"(["","","","0.0","False","False"])"})
                        .value();
  EXPECT_EQ(full.model, 2 * one_product);
  EXPECT_EQ(full.executed, 2 * one_product);
  EXPECT_FALSE(full.assumed);
  EXPECT_EQ(model({"aten::_flash_attention_forward", "[[2,8,4,16],[2,8,4,16],[2,8,4,16],[],[],[],[],[],[],[]]", "",
                   R"(["","","","","","8","8","0.0","False","False"])"}),
            2 * one_product)
      << "positions stand before heads";
}

TEST(FlopCount, CausalAttentionIsHalfOfIt) {
  EXPECT_EQ(model({"aten::_scaled_dot_product_flash_attention", "[[2,4,8,16],[2,4,8,16],[2,4,8,16],[],[],[]]", "",
                   R"(["","","","0.0","True","False"])"}),
            one_product);
  EXPECT_EQ(model({"aten::_efficient_attention_forward", "[[2,8,4,16],[2,8,4,16],[2,8,4,16],[],[],[],[],[],[],[],[]]",
                   "", R"(["","","","","","","","","0.0","1","True"])"}),
            one_product);
  const auto unknown =
      count({"aten::_scaled_dot_product_flash_attention", "[[2,4,8,16],[2,4,8,16],[2,4,8,16],[],[],[]]"}).value();
  EXPECT_EQ(unknown.model, 2 * one_product);
  EXPECT_TRUE(unknown.assumed);
}

TEST(FlopCount, HeadsOfQueriesMayShareThoseOfKeys) {
  EXPECT_EQ(model({"aten::_scaled_dot_product_cudnn_attention", "[[2,4,8,16],[2,1,24,16],[2,1,24,32],[],[],[],[],[]]",
                   "", R"(["","","","","False","0.0","False","False"])"}),
            3 * one_product + 6 * one_product)
      << "three times as many keys, values twice as wide";
}

TEST(FlopCount, TheBackwardPassOfAttentionComputesOneProductAgain) {
  const auto backward = count({"aten::_scaled_dot_product_flash_attention_backward",
                               "[[2,4,8,16],[2,4,8,16],[2,4,8,16],[2,4,8,16],[2,4,8,16],[2,4,8],[],[],[],[],[],[]]", "",
                               R"(["","","","","","","","","8","8","0.0","False","",""])"})
                            .value();
  EXPECT_EQ(backward.model, 4 * one_product);
  EXPECT_EQ(backward.executed, 5 * one_product);
  EXPECT_FALSE(backward.forward);
  EXPECT_EQ(count({"flash_attn::_flash_attn_backward",
                   "[[2,8,4,16],[2,8,4,16],[2,8,4,16],[2,8,4,16],[2,8,4,16],[2,4,8],[],[],[],[],[],[],[],[]]", "",
                   R"(["","","","","","","","","","0.0","0.25","True","-1","-1"])"})
                .value()
                .model,
            2 * one_product);
}

TEST(FlopCount, PackedSequencesAndWindowsAreNotTold) {
  EXPECT_EQ(why({"flash_attn::_flash_attn_varlen_forward", "[[16,4,16],[16,4,16],[16,4,16],[3],[3]]"}),
            NotCountable::not_told_by_shapes);
  EXPECT_EQ(why({"aten::_flash_attention_forward", "[[1,16,4,16],[1,16,4,16],[1,16,4,16],[3],[3],[],[],[],[],[]]"}),
            NotCountable::not_told_by_shapes);
  EXPECT_EQ(why({"flash_attn::_flash_attn_forward", "[[2,8,4,16],[2,8,4,16],[2,8,4,16],[],[],[],[],[]]", "",
                 R"(["","","","0.0","0.25","True","4","0"])"}),
            NotCountable::not_told_by_shapes);
}

TEST(FlopCount, HostileAttentionIsNotCounted) {
  for (const char* const sizes :
       {"[[2,4,8,16],[2,4,8,16]]", "[[2,4,8],[2,4,8],[2,4,8]]", "[[2,4,8,16],[3,4,8,16],[2,4,8,16]]",
        "[[2,4,8,16],[2,3,8,16],[2,3,8,16]]", "[[2,4,8,16],[2,0,8,16],[2,0,8,16]]",
        "[[2,4,8,16],[2,4,8,16],[2,4,9,16]]", "[[2,4,8,16],[2,4,8,-16],[2,4,8,16]]"})
    EXPECT_EQ(why({"aten::_scaled_dot_product_flash_attention", sizes}), NotCountable::unusable_shapes) << sizes;
  EXPECT_EQ(why({"aten::_scaled_dot_product_flash_attention",
                 "[[2,4,2147483648,2147483648],[2,4,2147483648,2147483648],[2,4,2147483648,2147483648]]"}),
            NotCountable::too_large);
}

TEST(FlopCount, InputsThatAreNestedBeyondReasonAreNotRecordedOnes) {
  const std::string deep = std::string(400'000, '[') + std::string(400'000, ']');
  EXPECT_TRUE(inputs_from(deep, deep, deep).sizes.empty());
  EXPECT_TRUE(inputs_from("", "", deep).values.empty());
  OperatorInputs inputs;
  inputs.values = {deep};
  EXPECT_EQ(inputs.numbers(0), std::nullopt);
  EXPECT_EQ(inputs_from("[[[2,3],[4]],[5]]", "", "").sizes.size(), 2U) << "a list of tensors is none of them";
}

TEST(FlopCount, OtherOperatorsHaveNoFormula) {
  for (const char* const name : {"aten::add", "aten::matmul", "aten::einsum", "aten::conv2d", ""})
    EXPECT_FALSE(has_flop_formula(name)) << name;
}

}  // namespace
}  // namespace rankscope::analyzer
