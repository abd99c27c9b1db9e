// What other tools wrote as JSON, in exports that every reader must take.
#include "exports/shared/json_repair.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "analyzer/importers/kineto/trace_text.h"
#include "rankscope/analyzer/export.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::json;

/// Pieces of JSON and of what is nearly JSON, of which the tests make values.
constexpr std::array pieces{
    std::string_view{"{"},           std::string_view{"}"},           std::string_view{"["},
    std::string_view{"]"},           std::string_view{","},           std::string_view{":"},
    std::string_view{"\"a\""},       std::string_view{"\"\\u00e9\""}, std::string_view{"0"},
    std::string_view{"-1.5"},        std::string_view{"007"},         std::string_view{"true"},
    std::string_view{"tru"},         std::string_view{"null"},        std::string_view{"\"\\x\""},
    std::string_view{"\"\xFF\""},    std::string_view{" "},           std::string_view{"1e999"},
    std::string_view{"\"\\ud800\""}, std::string_view{"\"open"},
};

TEST(JsonRepair, WordsThatJsonLacksBecomeTexts) {
  EXPECT_EQ(repaired_json("[007, 12abc, tru]"), R"(["007", "12abc", "tru"])");
  EXPECT_EQ(repaired_json("007.5"), R"("007.5")");
  EXPECT_EQ(repaired_json("[-00.1,+1,.5,1.,1e,0x10,1e999]"), R"(["-00.1","+1",".5","1.","1e","0x10","1e999"])");
  EXPECT_EQ(repaired_json("[[1,NaN],[-Infinity,\"NaN\"]]"), R"([[1,"NaN"],["-Infinity","NaN"]])");
  EXPECT_EQ(repaired_json("{007: None}"), R"({"007": "None"})");
}

TEST(JsonRepair, TextsGetTheirEscapesAndCharacters) {
  EXPECT_EQ(repaired_json("[\"a\tb\"]"), R"(["a\tb"])");
  EXPECT_EQ(repaired_json(R"(["C:\work"])"), R"(["C:\\work"])");
  EXPECT_EQ(repaired_json("[\"\xFF\"]"), "[\"\xEF\xBF\xBD\"]");
  EXPECT_EQ(repaired_json(R"(["\ud800"])"), "[\"\xEF\xBF\xBD\"]") << "half of a pair";
}

TEST(JsonRepair, WhatIsNoJsonEvenThenIsOneText) {
  for (const std::string_view text : {"", "[1", "[1 2]", "[1,]", "{\"a\" 1}", "{true: 1}", "[1}", "1 2", "[\"open"}) {
    const auto repaired = repaired_json(text);
    ASSERT_TRUE(repaired) << text;
    EXPECT_EQ(Json::parse(*repaired).get<std::string>(), text);
  }
}

TEST(JsonRepair, WhatIsJsonStaysAsItIs) {
  for (const std::string_view text :
       {"0", "-0.5e-3", "true", "null", "\"\"", "[]", "{}", "[[1, 2], [], {\"a\": [null]}]",
        R"("\u00e9\ud83d\ude00\/")", "[18446744073709551615]", "\"\xC3\xA9\""})
    EXPECT_EQ(repaired_json(text), std::nullopt) << text;
}

TEST(JsonRepair, AnyMixtureIsJsonAfterwardsAndLeftAloneOnlyIfItWasBefore) {
  std::uint32_t state = 1;
  const auto next = [&state](std::uint32_t below) {
    state = state * 1664525U + 1013904223U;
    return (state >> 8U) % below;
  };
  int valid = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text{round % 2 == 0 ? "[" : ""};
    for (std::uint32_t count = 1 + next(6); count > 0; --count) text += pieces[next(pieces.size())];
    if (round % 2 == 0) text += ']';
    const auto repaired = repaired_json(text);
    EXPECT_EQ(!repaired, Json::accept(text)) << text;
    EXPECT_TRUE(!repaired || Json::accept(*repaired)) << text << " became " << *repaired;
    if (!repaired) ++valid;
  }
  EXPECT_GT(valid, 500) << "the mixtures must hold JSON, too";
}

TEST(JsonRepair, EveryExportOfAnOddTraceIsJson) {
  const auto run = testing::open_text(testing::trace(
      testing::op("a", 1, 2, R"({"x": 007.5, "y": -00.1, "z": [007, 12abc, tru], "w": {"k": -inf}, "v": 1e999})")));
  ASSERT_TRUE(run);
  for (const ExportInfo& format : exports()) {
    if (format.id != "kineto" && format.id != "chrome" && format.id != "tensorboard") continue;
    const testing::TemporaryFolder folder;
    const auto out = folder / (format.id == "tensorboard" ? "out" : "out.json");
    ASSERT_TRUE(format.write(**run, out, {})) << format.id;
    std::string text;
    if (!std::filesystem::is_directory(out))
      text = testing::read_file(out);
    else
      for (const auto& entry : std::filesystem::directory_iterator{out})
        if (entry.path().extension() == ".json") text = testing::read_file(entry.path());
    const Json trace = Json::parse(text, nullptr, false);
    ASSERT_FALSE(trace.is_discarded()) << format.id << ": " << text;
    EXPECT_NE(text.find("12abc"), std::string::npos) << format.id;
  }
}

}  // namespace
}  // namespace rankscope::analyzer
