// What a Run keeps of the times as they stood in the file.
#include <gtest/gtest.h>

#include "analyzer/importers/kineto/trace_text.h"
#include "rankscope/analyzer/export.h"
#include "rankscope/analyzer/select.h"
#include "rankscope/core/model/run.h"
#include "words/keys.h"

namespace rankscope::analyzer {
namespace {

using testing::complete;
using testing::op;
using testing::open_text;
using testing::trace;

std::string_view fact(const Run& run, std::string_view key) { return run.metadata(run.processes()[0], key); }

/// Nanoseconds in the file at which a span of this name began.
std::int64_t file_ns(const Run& run, std::string_view name) {
  for (const Span& span : run.spans())
    if (run.text(span.name) == name)
      return ns_of(span.time.begin) + std::stoll(std::string{fact(run, keys::file_time_offset)});
  ADD_FAILURE() << name;
  return 0;
}

TEST(KinetoFileTimes, LeadBackToTheFile) {
  const auto run = open_text(trace(op("aten::a", 1000, 5) + "," + op("aten::b", 2000, 5))).value();
  EXPECT_EQ(ns_of(run->extent().begin), 0);
  EXPECT_EQ(file_ns(*run, "aten::a"), 1'000'000);
  EXPECT_EQ(file_ns(*run, "aten::b"), 2'000'000);
  EXPECT_EQ(fact(*run, keys::file_time_type), "integer");
}

TEST(KinetoFileTimes, OneTimeThatIsNoIntegerMakesTheFileOneOfFloats) {
  const std::string whole = complete("cpu_op", "b", R"("pid": 7, "tid": 7, "ts": 20.0, "dur": 5)");
  EXPECT_EQ(fact(*open_text(trace(op("a", 10, 5) + "," + whole)).value(), keys::file_time_type), "float");
  const std::string untimed = R"({"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "python"}})";
  EXPECT_EQ(fact(*open_text(trace(op("a", 10, 5) + "," + untimed)).value(), keys::file_time_type), "float");
}

TEST(KinetoFileTimes, SurviveASelectionAndAnExport) {
  const auto step = [](int index, int begin) {
    return complete("user_annotation", "ProfilerStep#" + std::to_string(index),
                    R"("pid": 7, "tid": 7, "dur": 1000, "ts": )" + std::to_string(begin) + ".5");
  };
  const auto run = open_text(trace(step(1, 1000) + "," + step(2, 2000) + "," + step(3, 3000))).value();
  const auto part = select(run, {.steps = std::pair<std::int64_t, std::int64_t>{2, 3}, .ranks = {}}).value();
  const testing::TemporaryFolder folder;
  for (const ExportInfo& info : exports())
    if (info.id == "kineto") {
      ASSERT_TRUE(info.write(*part, folder / "out.json", {}));
    }
  const auto again = open_run(folder / "out.json").value();
  EXPECT_EQ(ns_of(again->extent().begin), 0) << "run time begins with what is left";
  EXPECT_EQ(file_ns(*again, "ProfilerStep#3"), 3'000'500);
  EXPECT_EQ(fact(*again, keys::file_time_type), "float");
}

}  // namespace
}  // namespace rankscope::analyzer
