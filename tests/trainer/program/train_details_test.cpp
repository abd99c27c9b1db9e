// --shapes, --memory, --stack and --modules in the trainer, as the recorder double asks for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "trainer/program/trained.h"

namespace rankscope::testing {
namespace {

std::vector<Call> calls_with(const std::string& details) {
  const Recorded recorded =
      train_recorded("--parallel single --steps 2 --layers 2", 1, {"RANKSCOPE_DOUBLE_DETAILS=" + details});
  EXPECT_EQ(recorded.result.status, 0) << recorded.result.err;
  return recorded.ranks[0];
}

/// Values of an attribute, each once.
std::set<std::string> values_of(const std::vector<Call>& calls, const std::string& key) {
  std::set<std::string> values;
  for (const Call& call : calls)
    if (call.words.size() > 2 && call.words[0] == "attribute" && call.words[1] == key) values.insert(call.words[2]);
  return values;
}

std::set<std::string> ranges_of(const std::vector<Call>& calls) {
  std::set<std::string> names;
  for (const Call& call : calls)
    if (call.words.size() > 2 && call.words[0] == "push" && call.words[1] == "user") names.insert(call.words[2]);
  return names;
}

std::int64_t count_of(const std::vector<Call>& calls, const std::string& word, const std::string& name) {
  return std::ranges::count_if(
      calls, [&](const Call& call) { return call.words.size() > 1 && call.words[0] == word && call.words[1] == name; });
}

TEST(TrainDetails, NothingIsToldUnlessAskedFor) {
  const auto calls = calls_with("0");
  EXPECT_TRUE(values_of(calls, "input_dims").empty());
  EXPECT_TRUE(values_of(calls, "module").empty());
  EXPECT_TRUE(ranges_of(calls).empty());
  EXPECT_EQ(count_of(calls, "mark", "[memory]"), 0);
  EXPECT_EQ(count_of(calls, "metadata", "details_recorded"), 0);
}

TEST(TrainDetails, ShapesAreWrittenAsKinetoDoes) {
  const auto calls = calls_with("1");
  EXPECT_TRUE(values_of(calls, "input_dims").contains("[[256],[8,784],[784,256],[],[]]")) << "addmm of the first layer";
  EXPECT_TRUE(values_of(calls, "input_types").contains("[\"float\",\"float\",\"float\",\"Scalar\",\"Scalar\"]"));
  EXPECT_TRUE(values_of(calls, "module").empty());
}

TEST(TrainDetails, EveryAllocationIsToldAndTheyAddUp) {
  const auto calls = calls_with("2");
  EXPECT_GT(count_of(calls, "mark", "[memory]"), 100);
  std::int64_t bytes = 0;
  std::int64_t wrong = 0;
  for (const Call& call : calls) {
    if (call.words[0] != "mark_attribute") continue;
    if (call.words[1] == "bytes") bytes += std::stoll(call.words[2]);
    if (call.words[1] == "allocated_bytes" && std::stoll(call.words[2]) != bytes) ++wrong;
  }
  EXPECT_EQ(wrong, 0) << "what is held is the sum of all changes";
}

TEST(TrainDetails, OperatorsOfBothPassesTellTheirModule) {
  const auto calls = calls_with("4");
  const auto modules = values_of(calls, "module");
  EXPECT_TRUE(modules.contains("layer0.linear") && modules.contains("head.linear"));
  const auto places = values_of(calls, "called_from");
  EXPECT_TRUE(std::ranges::all_of(places, [](const std::string& place) { return place.starts_with("model.cpp:"); }));
  bool in_backward = false;
  std::set<std::string> of_backward;
  for (const Call& call : calls) {
    if (call.thread != "main") continue;
    if (call.words[0] == "push" && call.words[1] == "backward") in_backward = true;
    if (call.words[0] == "push" && call.words[1] == "optimizer") in_backward = false;
    if (in_backward && call.words[0] == "attribute" && call.words[1] == "module") of_backward.insert(call.words[2]);
  }
  EXPECT_TRUE(of_backward.contains("layer0.linear")) << "a node of backward belongs where its forward ran";
}

TEST(TrainDetails, ModulesAreRangesNamedByTheirPath) {
  const auto calls = calls_with("8");
  const std::set<std::string> all{"layer0", "layer0.linear", "layer1", "layer1.linear", "head", "head.linear"};
  EXPECT_EQ(ranges_of(calls), all);
  EXPECT_EQ(count_of(calls, "metadata", "details_recorded"), 1);
}

}  // namespace
}  // namespace rankscope::testing
