// Memory of a small run, as text, as JSON and on the page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "analyzer/memory/memory_text.h"
#include "analyzer/synthetic_run.h"
#include "rankscope/analyzer/render.h"

namespace rankscope::analyzer {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

std::shared_ptr<const Run> run_with_memory() {
  testing::Heap heap{0, {.allocated = 1'000'000, .reserved = 40'000'000}};
  return testing::run_of(testing::gpu_rank(0, 100'000'000) +
                         "0 step 0 100 step index=0 lane=main\n0 step 100 200 step index=1 lane=main\n"
                         "0 op 10 90 aten::linear lane=main\n0 op 20 80 aten::mm lane=main\n"
                         "0 op 100 190 <b>loss</b> lane=main\n0 compute 0 190 gemm lane=s7\n" +
                         heap.take(30, 1, 8'000'000).take(95, 2, 500'000).take(110, 3, 10'000'000).give(120, 1).text() +
                         "0 counter 150 300000000 rss_bytes\n");
}

TEST(MemoryTables, ShowPeaksAndWhoHeldThem) {
  const auto run = run_with_memory();
  const std::string text = render_text(analyze(*run, {}), *run, {}, Colour::no);
  EXPECT_THAT(text, HasSubstr("device 0"));
  EXPECT_THAT(text, HasSubstr("19.5 MB     1  <b>loss</b>"));
  EXPECT_THAT(text, HasSubstr("40.0 MB    51 %  60.0 MB (60.0 %)"));
  EXPECT_THAT(text, HasSubstr("host, whole process"));
  EXPECT_THAT(text, HasSubstr("ALLOCATED AT THE PEAK  rank 0, device 0: where the 19.5 MB was allocated"));
  EXPECT_THAT(text, HasSubstr("aten::mm in aten::linear"));
  EXPECT_THAT(text, HasSubstr("(before the recording)"));
  EXPECT_THAT(text, HasSubstr("(unknown)"));
  EXPECT_THAT(text, HasSubstr("Reserved: memory held by the framework"));
}

/// Twelve devices and processes, of which the last ones hold most.
Report many_memories() {
  Report report;
  MemorySection section;
  for (std::uint32_t i = 0; i < 12; ++i) {
    DeviceMemory device;
    device.rank = RankId{i};
    device.allocated.bytes = (i + 1) * 1'000'000;
    device.allocated_points = {{0, 0}, {100, (i + 1) * 1'000'000}};
    section.devices.push_back(device);
    HostMemory host;
    host.rank = RankId{i};
    host.resident.bytes = (i + 1) * 2'000'000;
    section.hosts.push_back(host);
  }
  report.memory = section;
  return report;
}

TEST(MemoryPage, DrawsThoseWithTheHighestPeaksAndSaysHowMany) {
  const auto run = run_with_memory();
  const std::string page = render_html(many_memories(), *run, {});
  EXPECT_THAT(page, Not(HasSubstr("Memory over time: rank 3,")));
  for (const int rank : {4, 11}) EXPECT_THAT(page, HasSubstr("Memory over time: rank " + std::to_string(rank) + ","));
  EXPECT_THAT(page, HasSubstr("Shown: the 8 charts with the highest peaks, out of 12."));
}

TEST(MemoryTables, KeepTheProcessesThatHeldMostAndSaySo) {
  const auto run = run_with_memory();
  ReportOptions options;
  options.top = 3;
  const std::string text = render_text(many_memories(), *run, options, Colour::no);
  EXPECT_THAT(text, HasSubstr("24.0 MB"));
  EXPECT_THAT(text, Not(HasSubstr("2.00 MB")));
  EXPECT_THAT(text,
              HasSubstr("Shown: the 3 of 12 processes that used the most host memory; the JSON report lists all."));
}

TEST(MemoryTables, AddUpInJson) {
  const auto run = run_with_memory();
  const Json memory = Json::parse(render_json(analyze(*run, {}), *run, {})).at("memory");
  const Json& device = memory.at("devices").at(0);
  EXPECT_EQ(device.at("peak_allocated").at("bytes"), 19'500'000);
  EXPECT_EQ(device.at("peak_allocated").at("step"), 1);
  EXPECT_EQ(device.at("left_bytes"), 60'000'000);
  const Json& held = device.at("held_at_peak");
  std::int64_t sum = held.at("before_recording_bytes").get<std::int64_t>() +
                     held.at("unknown_bytes").get<std::int64_t>() + held.at("rest").at("bytes").get<std::int64_t>();
  for (const Json& row : held.at("rows")) sum += row.at("bytes").get<std::int64_t>();
  EXPECT_EQ(sum, 19'500'000);
  EXPECT_EQ(device.at("timeline").at("allocated").at("bytes"), (Json{9'000'000, 9'500'000, 19'500'000, 11'500'000}));
  EXPECT_TRUE(device.at("growth").at("bytes_per_step").is_null());
  EXPECT_EQ(device.at("growth").at("why").at("bytes_per_step"),
            "a trend needs at least 20 steps after the warm-up (found: 2)");
  const Json& places = memory.at("allocations").at("device");
  std::int64_t allocated = places.at("rest").at("allocated_bytes");
  for (const Json& row : places.at("rows")) allocated += row.at("allocated_bytes").get<std::int64_t>();
  EXPECT_EQ(allocated, places.at("sum").at("allocated_bytes"));
  EXPECT_EQ(allocated, 18'500'000);
  EXPECT_EQ(memory.at("host_processes").at(0).at("peak_resident").at("bytes"), 300'000'000);
}

TEST(MemoryTables, AreDrawnOnThePage) {
  const auto run = run_with_memory();
  const std::string page = render_html(analyze(*run, {}), *run, {});
  EXPECT_THAT(page, HasSubstr("Memory over time: rank 0, device 0"));
  EXPECT_THAT(page, HasSubstr("memory-line memory-allocated"));
  EXPECT_THAT(page, HasSubstr("memory of the device"));
  EXPECT_THAT(page, HasSubstr("peak allocated: 19.5 MB"));
  EXPECT_THAT(page, Not(HasSubstr("<b>loss")));
}

TEST(MemoryTables, AreLeftOutWhereNobodyRecordedMemory) {
  const auto run = testing::run_of("0 op 0 10 aten::mm\n");
  const Report report = analyze(*run, {});
  const std::string text = render_text(report, *run, {}, Colour::no);
  EXPECT_THAT(text, Not(HasSubstr("MEMORY")));
  EXPECT_THAT(text, HasSubstr("no allocations or memory counters were recorded"));
  EXPECT_EQ(Json::parse(render_json(report, *run, {})).at("memory"),
            (Json{{"unavailable", "no allocations or memory counters were recorded"}}));
}

}  // namespace
}  // namespace rankscope::analyzer
