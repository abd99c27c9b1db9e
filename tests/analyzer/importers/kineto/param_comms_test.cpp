// What the recorded inputs of collectives tell: layouts as real traces have them.
#include "importers/kineto/param_comms.h"

#include <gtest/gtest.h>

#include <string>

#include "rankscope/core/model/run.h"
#include "trace_text.h"

namespace rankscope::analyzer::kineto {
namespace {

using testing::complete;
using testing::on_stream;
using testing::op;
using testing::trace;

TEST(ParamComms, TuplesOf2024TellNoSequenceButTheRoot) {
  // PyTorch 2.7, MI300
  const auto told = param_comms_from(
      {.dims = "[[[9600]],[],[],[],[],[],[],[],[],[]]",
       .types = R"(["TensorList","","","Scalar","","ScalarList","ScalarList","Scalar","Scalar","Scalar"])",
       .values = R"(["","","","3","","[]","[]","0","1","8"])"});
  ASSERT_TRUE(told);
  EXPECT_EQ(told->sequence, -1);
  EXPECT_EQ(told->rank, 3);
  EXPECT_TRUE(told->names_root);
}

TEST(ParamComms, NumbersOf2023TellTheSequenceButNotTheRoot) {
  // PyTorch 2.0, A100: tensor, sequence, process group, rank, name, split sizes
  const auto told = param_comms_from({.dims = "[[65536,384],[],[],[],[],[],[]]",
                                      .types = R"(["float","Scalar","Scalar","Scalar","","",""])",
                                      .values = R"(["","41","94532","1","","",""])"});
  ASSERT_TRUE(told);
  EXPECT_EQ(told->sequence, 41);
  EXPECT_FALSE(told->names_root) << "the macro of that time passes the own rank";
}

TEST(ParamComms, WithoutTensorsAllStandsOnePlaceEarlier) {
  const auto barrier = param_comms_from({.dims = "[[],[],[],[],[],[]]",
                                         .types = R"(["Scalar","Scalar","Scalar","","",""])",
                                         .values = R"(["7","94532","1","","",""])"});
  ASSERT_TRUE(barrier);
  EXPECT_EQ(barrier->sequence, 7);
  const auto wait =
      param_comms_from({.dims = "[[],[],[],[],[],[],[],[],[]]",
                        .types = R"(["","","Scalar","","ScalarList","ScalarList","Scalar","Scalar","Scalar"])",
                        .values = R"(["","","0","","[]","[]","-1","-1","1"])"});
  ASSERT_TRUE(wait);
  EXPECT_EQ(wait->sequence, -1);
}

TEST(ParamComms, OtherLayoutsTellNothing) {
  const std::string five = R"(["float","Scalar","Scalar","Scalar",""])";
  EXPECT_FALSE(param_comms_from({.dims = {}, .types = five, .values = R"(["","1","2","3",""])"}));
  const std::string named_elsewhere = R"(["float","Scalar","","Scalar","Scalar","",""])";
  EXPECT_FALSE(param_comms_from({.dims = {}, .types = named_elsewhere, .values = R"(["","1","","3","4","",""])"}));
  const std::string seven = R"(["float","Scalar","Scalar","Scalar","","",""])";
  EXPECT_FALSE(param_comms_from({.dims = {}, .types = seven, .values = {}})) << "values are not in traces before 2023";
  EXPECT_FALSE(param_comms_from({.dims = {}, .types = "[", .values = "]"}));
}

TEST(ParamComms, OperatorsOfSendsAndReceivesGetThePartner) {
  // PyTorch 2.11, Gloo
  const std::string types = R"(["TensorList","","Scalar","Scalar"])";
  EXPECT_EQ(partner_from({.dims = "[[[8,256]],[],[],[]]", .types = types, .values = R"(["","","2","0"])"}), 2);
  EXPECT_EQ(partner_from({.dims = {}, .types = types, .values = R"(["","","-1","0"])"}), -1);
  EXPECT_EQ(partner_from({.dims = {}, .types = R"(["TensorList","","Scalar"])", .values = R"(["","","2"])"}), -1);
}

TEST(ParamComms, SendsAndReceivesOfGlooHaveThePartnerAndTheSizeOfTheirInputs) {
  const auto run = testing::open_text(trace(
      op("c10d::send", 10, 5,
         R"({"Concrete Inputs": ["", "", "2", "0"], "Input type": ["TensorList", "", "Scalar", "Scalar"],)"
         R"("Input Dims": [[[8, 256]], [], [], []]})") +
          "," +
          complete("user_annotation", "gloo:send",
                   R"("pid": 7, "tid": 7, "ts": 12, "dur": 90, "args": {"Concrete Inputs": [""],)"
                   R"("Input type": ["float"], "Input Dims": [[8, 256]]})"),
      R"("distributedInfo": {"rank": 1, "world_size": 4, "pg_config": [{"pg_name": "0", "ranks": [0, 1, 2, 3]}]})"));
  ASSERT_TRUE(run);
  ASSERT_EQ((*run)->collectives().size(), 1U);
  EXPECT_EQ((*run)->collectives()[0].peer, 2);
  EXPECT_EQ((*run)->collectives()[0].bytes, 8192);
}

TEST(ParamComms, ElementsOfAllTensorsAreAdded) {
  const auto list =
      tensor_inputs_from({.dims = "[[[2,3],[4]],[],[]]", .types = R"(["TensorList","",""])", .values = {}});
  EXPECT_EQ(list.elements, 10);
  EXPECT_EQ(list.type.bytes, 0);
  const auto one =
      tensor_inputs_from({.dims = "[[8,2],[],[]]", .types = R"(["c10::BFloat16","Scalar",""])", .values = {}});
  EXPECT_EQ(one.elements, 16);
  EXPECT_EQ(one.type.bytes, 2);
  EXPECT_EQ(tensor_inputs_from({.dims = "[[],[]]", .types = R"(["Scalar","Scalar"])", .values = {}}).elements, -1);
}

/// A trace of one rank of two: one NCCL kernel without arguments per call, described by inputs as of 2.2 to 2.3.
std::string rank_with_inputs(int rank, std::initializer_list<int> sequences, std::string_view name = "allreduce",
                             int root = -1) {
  std::string events;
  int at = 0;
  for (const int sequence : sequences) {
    const std::string id = std::to_string(at + 1);
    const std::string seq = root < 0 ? std::to_string(sequence) : "";
    events +=
        (events.empty() ? "" : ",") +
        op("record_param_comms", at, 20,
           R"({"Collective name": ")" + std::string{name} +
               R"(", "Process Group ID": 0, "Group size": 2, "Global rank start": 0, "Global rank stride": 1,
                     "Input Dims": [[1000], [], [], [], [], [], [], [], [], []],
                     "Input type": ["float", ")" +
               (root < 0 ? "Scalar" : "") +
               R"(", "", "Scalar", "", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar"],
                     "Concrete Inputs": ["", ")" +
               seq + R"(", "", ")" + std::to_string(root < 0 ? rank : root) + R"(", "", "[]", "[]", "0", "1", "2"]})") +
        "," +
        complete("cuda_runtime", "cudaLaunchKernel",
                 R"("pid": 7, "tid": 7, "ts": )" + std::to_string(at + 5) + R"(, "dur": 3, "args": {"correlation": )" +
                     id + "}") +
        "," +
        on_stream("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", at + 30, 50,
                  R"({"correlation": )" + id + "}");
    at += 1000;
  }
  return R"({"schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000, "distributedInfo": {"rank": )" +
         std::to_string(rank) + R"(, "world_size": 2}, "traceEvents": [)" + events + "]}";
}

TEST(ParamComms, KernelsWithoutArgumentsTakeSequenceAndBytesFromTheInputs) {
  const testing::TraceFolder folder;
  folder.write("rank0.json", rank_with_inputs(0, {11, 12, 13}));
  folder.write("rank1.json", rank_with_inputs(1, {12, 13, 14}));
  const auto run = folder.open();
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->collectives().size(), 6U);
  const Collective& first = (*run)->collectives().front();
  EXPECT_EQ(first.sequence, 11);
  EXPECT_EQ(first.bytes, 4000);
  EXPECT_EQ(first.peer, -1) << "an all-reduce has no root";
}

TEST(ParamComms, NumbersThatDoNotCountAreLeftOutOnAllRanks) {
  const testing::TraceFolder folder;
  folder.write("rank0.json", rank_with_inputs(0, {1, 1, 1}));  // as ProcessGroupXCCL once wrote them
  folder.write("rank1.json", rank_with_inputs(1, {1, 2, 3}));
  const auto run = folder.open();
  ASSERT_TRUE(run) << run.error().message;
  for (const Collective& row : (*run)->collectives()) EXPECT_EQ(row.sequence, -1);
}

TEST(ParamComms, TheRootIsReadUnlessEveryRankNamesItself) {
  const auto roots = [](int of_0, int of_1) {
    const testing::TraceFolder folder;
    folder.write("rank0.json", rank_with_inputs(0, {1, 2}, "broadcast", of_0));
    folder.write("rank1.json", rank_with_inputs(1, {1, 2}, "broadcast", of_1));
    const auto run = folder.open();
    if (!run) return std::vector<std::int64_t>{};
    std::vector<std::int64_t> peers;
    for (const Collective& row : (*run)->collectives()) peers.push_back(row.peer);
    return peers;
  };
  EXPECT_EQ(roots(1, 1), (std::vector<std::int64_t>{1, 1, 1, 1}));
  EXPECT_EQ(roots(0, 1), (std::vector<std::int64_t>{-1, -1, -1, -1}));
}

}  // namespace
}  // namespace rankscope::analyzer::kineto
