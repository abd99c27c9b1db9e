// Devices other than CUDA's and HIP's.
#include <gtest/gtest.h>

#include "importers/kineto/categories.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/model/run.h"
#include "trace_text.h"

namespace rankscope {
namespace {

using testing::complete;
using testing::op;
using testing::open_text;
using testing::trace;

TEST(KinetoDevices, KernelsAreReadByCategory) {
  const auto run = open_text(trace(
      op("aten::mm", 1, 20) + "," +
      complete("mtia_runtime", "launch", R"("pid": 7, "tid": 7, "ts": 2, "dur": 3, "args": {"correlation": 4})") + "," +
      complete("mtia_ccp_events", "gemm", R"("pid": 0, "tid": 3, "ts": 8, "dur": 9, "args": {"correlation": 4})")));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_TRUE((*run)->has_accelerator(RankId{0}));
  EXPECT_EQ((*run)->links().size(), 1U);
  EXPECT_EQ((*run)->quality().of(Counter::devices_not_read), 0U);
}

TEST(KinetoDevices, CategoriesOfPluginsAreToldByTheirEnd) {
  using analyzer::kineto::category_from;
  EXPECT_EQ(category_from("GCU_MEMCPY").kind, SpanKind::memory);
  EXPECT_EQ(category_from("npu_kernel").kind, SpanKind::compute);
  EXPECT_EQ(category_from("gcu_runtime").kind, SpanKind::runtime);
  EXPECT_EQ(category_from("critical_path").name, "") << "unknown";
}

TEST(KinetoDevices, ARankWhoseDeviceIsNotReadIsNotACpuRank) {
  const auto calls = [](std::string_view category) {
    return trace(complete("user_annotation", "ProfilerStep#1", R"("pid": 7, "tid": 7, "ts": 0, "dur": 100)") + "," +
                 op("aten::mm", 1, 90) + "," +
                 complete(category, "launch", R"("pid": 7, "tid": 7, "ts": 2, "dur": 3, "args": {"correlation": 4})"));
  };
  const auto run = open_text(calls("xpu_runtime"));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->quality().of(Counter::devices_not_read), 1U);
  const analyzer::Report report = analyzer::analyze(**run, {});
  ASSERT_FALSE(report.rank_rows);
  EXPECT_NE(report.rank_rows.error().why.find("uses a device (XPU)"), std::string::npos)
      << report.rank_rows.error().why;
}

TEST(KinetoDevices, TasksOfAscendAreNotTakenForNothing) {
  const auto run = open_text(trace(
      op("aten::mm", 1, 90) +
      R"(, {"ph": "X", "name": "MatMulV2", "pid": 9, "tid": 2, "ts": 5, "dur": 50, "args": {"Task Type": "AI_CORE"}})"));
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->quality().of(Counter::devices_not_read), 1U);
  EXPECT_FALSE(analyzer::analyze(**run, {}).rank_rows);
}

}  // namespace
}  // namespace rankscope
