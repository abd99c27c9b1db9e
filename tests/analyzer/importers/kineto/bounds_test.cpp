// Names and values of any length: what is too long to be one is cut off and counted.
#include <gtest/gtest.h>

#include "importers/kineto/event.h"
#include "rankscope/core/model/run.h"
#include "trace_text.h"

namespace rankscope {
namespace {

using analyzer::kineto::longest_text;
using testing::complete;
using testing::open_text;
using testing::trace;

std::string event_named(const std::string& name, const std::string& arguments = "") {
  return complete(
      "cpu_op", name,
      R"("pid": 7, "tid": 7, "ts": 2, "dur": 3)" + (arguments.empty() ? "" : ", \"args\": {" + arguments + "}"));
}

TEST(KinetoBounds, ALongNameIsCutOffAndCounted) {
  const auto run = open_text(trace(event_named(std::string(1'000'000, 'a'))));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->text((*run)->spans()[0].name), std::string(longest_text, 'a'));
  EXPECT_EQ((*run)->quality().of(Counter::names_shortened), 1U);
}

TEST(KinetoBounds, ANameThatJustFitsIsKept) {
  const auto run = open_text(trace(event_named(std::string(longest_text, 'a'))));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->text((*run)->spans()[0].name).size(), longest_text);
  EXPECT_EQ((*run)->quality().of(Counter::names_shortened), 0U);
}

TEST(KinetoBounds, NoCharacterIsCutInHalf) {
  const auto run = open_text(trace(event_named(std::string(longest_text - 1, 'a') + "\xC3\xA4" + "b")));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->text((*run)->spans()[0].name), std::string(longest_text - 1, 'a'));
}

TEST(KinetoBounds, ALongListIsNoListAnyMore) {
  std::string list = "[1";
  while (list.size() <= longest_text) list += ",1";
  const auto run = open_text(trace(event_named("op", "\"Input Dims\": " + list + "]")));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->quality().of(Counter::names_shortened), 1U);
  int described = 0;
  for (const Attribute& attribute : (*run)->attributes_of((*run)->id_of((*run)->spans()[0])))
    described += attribute.value.kind == AttributeKind::text ? 1 : 0;
  EXPECT_EQ(described, 1);
}

TEST(KinetoBounds, LongNamesOfThreadsAndHostsAreCutOffToo) {
  const std::string name(100'000, 'n');
  const auto run = open_text(
      trace(event_named("op") + R"(, {"ph": "M", "name": "thread_name", "pid": 7, "tid": 7, "args": {"name": ")" +
                name + "\"}}",
            "\"host_name\": \"" + name + "\""));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->quality().of(Counter::names_shortened), 2U);
  for (const Lane& lane : (*run)->lanes()) EXPECT_LT((*run)->text(lane.name).size(), longest_text + 100);
}

}  // namespace
}  // namespace rankscope
