// What communication kernels were: from NCCL's payloads where the export has them, else from names and order.
#include <gmock/gmock.h>

#include "importers/nsys/nsys_export.h"
#include "rankscope/core/model/run.h"
#include "support/temporary_folder.h"

namespace rankscope::analyzer {
namespace {

using namespace rankscope::testing;  // NOLINT: the builders of rows
using ::testing::HasSubstr;

constexpr std::int64_t all_reduce = 3;  // names of modern_tables
constexpr std::int64_t send_recv = 4;

std::string hex(std::uint64_t value, int bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8U) {
    text += digits[(value >> 4U) & 0xFU];
    text += digits[value & 0xFU];
  }
  return text;
}

/// Nsight's header and the payload behind it.
std::string payload(std::uint32_t schema, const std::string& fields) {
  const std::uint64_t size = fields.size() / 2;
  return hex(1, 4) + hex(0, 4) + hex(schema, 4) + hex(0, 4) + hex(size, 8) + hex(size + 32, 8) + fields;
}
constexpr std::uint64_t communicator = 0xFEDCBA9876543210;  // above 2^63: never through a double or a sign

std::string init(std::uint32_t rank, std::uint32_t ranks) {
  return payload(16777218, hex(communicator, 8) + hex(ranks, 4) + hex(rank, 4) + hex(0, 4) + hex(0, 4));
}
std::string reduction(std::uint64_t bytes) {
  return payload(16777221, hex(communicator, 8) + hex(bytes, 8) + hex(0, 4) + hex(0xABCD, 4));  // padding is garbage
}
std::string to_peer(std::uint64_t bytes, std::uint32_t peer) {
  return payload(16777225, hex(communicator, 8) + hex(bytes, 8) + hex(peer, 4) + hex(0, 4));
}

const std::string schemas = R"sql(
  CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (domainId INTEGER, schemaId INTEGER, idx INTEGER, flags INTEGER,
    type INTEGER, name TEXT, description TEXT, arrayOrUnionDetail INTEGER, offset INTEGER);
  INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES
    (1,16777218,0,NULL,18,'NCCL communicator ID',NULL,NULL,NULL), (1,16777218,1,NULL,5,'No. of ranks',NULL,NULL,8),
    (1,16777218,2,NULL,5,'Rank',NULL,NULL,12), (1,16777218,3,NULL,5,'CUDA device',NULL,NULL,16),
    (1,16777221,0,NULL,18,'NCCL communicator ID',NULL,NULL,NULL),
    (1,16777221,1,NULL,22,'Message size [bytes]',NULL,NULL,8),
    (1,16777221,2,NULL,16777232,'Reduction operation',NULL,NULL,16),
    (1,16777225,0,NULL,18,'NCCL communicator ID',NULL,NULL,NULL),
    (1,16777225,1,NULL,22,'Message size [bytes]',NULL,NULL,8), (1,16777225,2,NULL,5,'Peer rank',NULL,NULL,16);
)sql";

std::shared_ptr<const Run> run_of_rows(const std::string& rows) {
  const TemporaryFolder folder;
  run_sql(folder / "a.sqlite", modern_tables + rows);
  const auto run = read_export(folder / "a.sqlite");
  EXPECT_TRUE(run) << run.error().message;
  return run ? *run : nullptr;
}

/// One launch inside [begin, end) of a process, and its kernel.
std::string launched(std::int64_t pid, std::int64_t begin, const Kernel& kernel) {
  return insert(LaunchCall{.begin = begin, .end = begin + 2, .pid = pid, .correlation = kernel.correlation}) +
         insert(kernel);
}

Kernel kernel_of(int rank, std::int64_t begin, std::int64_t end, std::int64_t correlation, std::int64_t name) {
  return {.begin = begin,
          .end = end,
          .pid = 100 + rank,
          .device = rank,
          .stream = 20,
          .correlation = correlation,
          .name = name};
}

TEST(NsysCollectives, PayloadsTellCommunicatorRankAndBytes) {
  std::string rows = schemas;
  for (const int rank : {0, 1}) {
    const std::int64_t pid = 100 + rank;
    // The device numbers say the opposite of the communicator: the communicator is right.
    rows += insert(Range{.begin = 0,
                         .end = 5,
                         .pid = pid,
                         .text = "ncclCommInitRank",
                         .domain = 1,
                         .payload = init(static_cast<std::uint32_t>(1 - rank), 2)});
    rows += insert(
        Range{.begin = 10, .end = 20, .pid = pid, .text = "ncclAllReduce", .domain = 1, .payload = reduction(4096)});
    rows += launched(pid, 12, kernel_of(rank, 30 + rank, 60, 9, all_reduce));
  }
  const auto run = run_of_rows(rows);
  ASSERT_EQ(run->collectives().size(), 2U);
  const Collective& first = run->collectives()[0];
  EXPECT_EQ(first.rank, RankId{0});
  EXPECT_EQ(run->processes()[0].pid, 101);
  EXPECT_EQ(run->text(first.op), "allreduce");
  EXPECT_EQ(run->text(first.dtype), "bf16");
  EXPECT_EQ(first.bytes, 4096);
  EXPECT_EQ(first.sequence, 0);
  EXPECT_EQ(first.started, at(31));
  EXPECT_EQ(first.finished, at(60));
  EXPECT_EQ(first.enqueued, at(12));
  const Group& group = run->groups()[first.group.index()];
  EXPECT_EQ(run->text(group.name), "communicator 0xfedcba9876543210");
  EXPECT_EQ(group.members, (std::vector<RankId>{RankId{0}, RankId{1}}));
  EXPECT_EQ(run->info().world_size, 2);
  EXPECT_EQ(run->quality().of(Counter::no_comm_args), 0U);
  EXPECT_EQ(run->quality().of(Counter::rank_unknown), 0U);
  EXPECT_EQ(run->quality().of(Counter::payloads_not_exported), 0U);
}

TEST(NsysCollectives, WithoutPayloadsTheCommandThatExportsThemIsSaid) {
  const auto run = run_of_rows(schemas +
                               "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_INCLUDE_BLOBS','false'),"
                               "('EXPORT_PARAM_INPUT_FILE','job.nsys-rep');" +
                               insert(Kernel{.begin = 0, .end = 5}));
  EXPECT_EQ(run->quality().of(Counter::payloads_not_exported), 1U);
  EXPECT_EQ(run->metadata("nsys.export_with_payloads"),
            "nsys export --type sqlite --include-blobs=true --force-overwrite=true --output a.sqlite job.nsys-rep");
}

/// SendRecv kernel inside a group of NCCL inside a range of PyTorch.
std::string all_to_all(int rank, std::int64_t begin, std::int64_t start, std::int64_t end, std::int64_t correlation) {
  const std::int64_t pid = 100 + rank;
  return insert(Range{.begin = begin, .end = begin + 40, .pid = pid, .text = "nccl:all_to_all, op_id = 7"}) +
         insert(Range{.begin = begin + 1, .end = begin + 2, .pid = pid, .text = "ncclGroupStart", .domain = 1}) +
         insert(Range{.begin = begin + 3, .end = begin + 4, .pid = pid, .text = "ncclSend", .domain = 1}) +
         insert(Range{.begin = begin + 5, .end = begin + 6, .pid = pid, .text = "ncclRecv", .domain = 1}) +
         insert(Range{.begin = begin + 7, .end = begin + 30, .pid = pid, .text = "ncclGroupEnd", .domain = 1}) +
         launched(pid, begin + 10, kernel_of(rank, start, end, correlation, send_recv));
}

TEST(NsysCollectives, SendRecvInsideAnAllToAllRangeIsOneAllToAll) {
  std::string rows = schemas;
  for (const int rank : {0, 1}) {
    rows += all_to_all(rank, 0, 100 + 5 * rank, 200, 1);
    rows += all_to_all(rank, 50, 300 - 5 * rank, 400, 2);
    rows += insert(kernel_of(rank, 1'000, 1'100, 77, send_recv));  // its launch lies outside the window
  }
  const auto run = run_of_rows(rows);
  ASSERT_EQ(run->collectives().size(), 6U);
  for (const Collective& collective : run->collectives()) {
    EXPECT_EQ(run->text(collective.op), "alltoall");
    EXPECT_TRUE(collective.group.is_set());
    EXPECT_EQ(collective.bytes, -1);
  }
  EXPECT_EQ(run->collectives()[2].sequence, 2);
  EXPECT_EQ(run->quality().of(Counter::no_comm_args), 0U) << "nothing stayed unmatched";
}

TEST(NsysCollectives, WhatOneRankLacksAtTheEdgeOfTheWindowShiftsNothing) {
  std::string rows;
  rows += insert(kernel_of(0, 0, 100'000, 1, all_reduce));  // before rank 1 was recorded
  for (int i = 1; i < 40; ++i)
    for (const int rank : {0, 1}) {
      const std::int64_t begin = i * 10'000'000;
      rows += insert(kernel_of(rank, begin + 1000 * rank, begin + 100'000, i, all_reduce));
    }
  const auto run = run_of_rows(rows);
  std::map<std::int64_t, int> members;
  for (const Collective& collective : run->collectives()) ++members[collective.sequence];
  EXPECT_EQ(members.size(), 40U);
  EXPECT_EQ(members[0], 1);
  for (int i = 1; i < 40; ++i) EXPECT_EQ(members[i], 2) << i;
}

TEST(NsysCollectives, AGuessThatDoesNotFitIsGivenUp) {
  std::string rows;
  for (int i = 0; i < 20; ++i) rows += insert(kernel_of(0, i * 10'000'000, i * 10'000'000 + 10, i + 1, all_reduce));
  for (int i = 0; i < 20; ++i)
    rows += insert(kernel_of(1, i * 10'000'000 + 5'000'000, i * 10'000'000 + 5'000'010, i + 1, all_reduce));
  const auto run = run_of_rows(rows);
  ASSERT_EQ(run->collectives().size(), 40U);
  for (const Collective& collective : run->collectives()) EXPECT_FALSE(collective.group.is_set());
}

TEST(NsysCollectives, AKernelThatEndsBeforeItBeginsStopsNothing) {
  const auto run =
      run_of_rows(insert(kernel_of(0, 50, 20, 1, all_reduce)) + insert(kernel_of(1, 60, 10, 1, all_reduce)));
  ASSERT_EQ(run->collectives().size(), 2U);
  EXPECT_EQ(run->quality().of(Counter::negative_duration), 2U);
  for (const Collective& collective : run->collectives()) EXPECT_EQ(collective.finished, collective.started);
}

TEST(NsysCollectives, OneRankAloneIsNoGroupOfOne) {
  const auto run = run_of_rows(insert(kernel_of(0, 0, 100, 1, all_reduce)));
  ASSERT_EQ(run->collectives().size(), 1U);
  EXPECT_FALSE(run->collectives()[0].group.is_set()) << "a group of one would say that nothing was communicated";
}

TEST(NsysCollectives, SendsAndReceivesKnowTheirPartner) {
  std::string rows = schemas;
  for (const int rank : {0, 1}) {
    const std::int64_t pid = 100 + rank;
    rows += insert(Range{.begin = 0,
                         .end = 5,
                         .pid = pid,
                         .text = "ncclCommInitRank",
                         .domain = 1,
                         .payload = init(static_cast<std::uint32_t>(rank), 2)});
    rows += insert(Range{.begin = 10,
                         .end = 20,
                         .pid = pid,
                         .text = rank == 0 ? "ncclSend" : "ncclRecv",
                         .domain = 1,
                         .payload = to_peer(64, static_cast<std::uint32_t>(1 - rank))});
    rows += launched(pid, 12, kernel_of(rank, 30, 60, 9, send_recv));
  }
  const auto run = run_of_rows(rows);
  ASSERT_EQ(run->collectives().size(), 2U);
  EXPECT_EQ(run->text(run->collectives()[0].op), "send");
  EXPECT_EQ(run->collectives()[0].peer, 1);
  EXPECT_EQ(run->text(run->collectives()[1].op), "recv");
  EXPECT_EQ(run->collectives()[1].peer, 0);
  EXPECT_EQ(run->collectives()[1].bytes, 64);
}

TEST(NsysCollectives, APayloadThatIsCutIsCounted) {
  const std::string whole = reduction(4096);
  const auto run = run_of_rows(
      schemas +
      insert(Range{
          .begin = 0, .end = 9, .text = "ncclAllReduce", .domain = 1, .payload = whole.substr(0, whole.size() - 20)}));
  EXPECT_EQ(run->quality().of(Counter::payloads_undecoded), 1U);
}

}  // namespace
}  // namespace rankscope::analyzer
