#include "rankscope/trainer/costs/costs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace rankscope::trainer {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

/// Two linear layers, 3 -> 5 -> 2: parameters of 15, 5, 10 and 2 elements.
ModelSize two_layers() {
  ModelSize model{.element_bytes = 4, .sample_bytes = 12};
  model.blocks = {{.name = "first", .parameters = {{"weight", {5, 3}}, {"bias", {5}}}, .output = 5},
                  {.name = "second", .parameters = {{"weight", {2, 5}}, {"bias", {2}}}, .output = 2}};
  return model;
}

struct Job {
  TrainOptions options{};
  int ranks = 1;
  ModelSize model = two_layers();
  RunPlan plan{};

  Job(const std::string& mode, int of) : ranks(of) {
    options.mode = &mode_named(mode);
    options.optimizer.momentum = 0.9;
    plan.batch = {.global = 8, .per_device = 8};
  }
  [[nodiscard]] CostQuestion question() const { return {options, plan, ranks, model}; }
  [[nodiscard]] std::vector<RankCost> costs() const { return costs_of(question()); }
  [[nodiscard]] RankCost cost() const { return largest(costs()); }
  /// Bytes by group and operation.
  [[nodiscard]] std::map<std::string, std::int64_t> sent(std::size_t kind = 0) const {
    std::map<std::string, std::int64_t> sums;
    const RankCost rank = costs().at(kind);
    for (const TrafficCost& cost : rank.traffic)
      if (cost.every == 1) sums[cost.group + " " + cost.op] += cost.bytes;
    return sums;
  }
};

PipelinePlan two_ranks(const std::string& schedule, int micro_batches) {
  PipelineOptions options;
  options.schedule = schedule;
  options.micro_batches = micro_batches;
  return *plan_pipeline(options, 2);
}

constexpr std::int64_t parameters = 4 * 32;

TEST(Costs, OneProcessHoldsParametersAndMomentumAndInAStepGradients) {
  const Job job{"single", 1};
  EXPECT_EQ(job.cost().always(), 2 * parameters);
  EXPECT_EQ(job.cost().at_most(), 3 * parameters);
  EXPECT_TRUE(job.cost().traffic.empty());
}

TEST(Costs, TheOptimizerDecidesAboutItsState) {
  Job job{"single", 1};
  job.options.optimizer.momentum = 0;
  EXPECT_EQ(job.cost().always(), parameters);
  job.options.optimizer.kind = OptimizerKind::adamw;
  EXPECT_EQ(job.cost().always(), 3 * parameters);
  // Two tensors for the first weight, when all gradients are still there.
  EXPECT_EQ(job.cost().at_most(), 4 * parameters + 2 * 4 * 15);
}

TEST(Costs, WhatTheUpdateTakesMayBeWhatGradientsGaveBack) {
  Job job{"single", 1};
  job.options.optimizer.weight_decay = 0.1;
  job.model.blocks.front().parameters.front().shape = {1, 1};
  job.model.blocks.back().parameters.front().shape = {6, 1};
  // 1, 5, 6 and 2 elements: of the third one 6 more, less 6 that are gone; of the second one 5, less 1.
  EXPECT_EQ(job.cost().at_most(), 3 * 4 * 14 + 4 * 4);
}

TEST(Costs, DdpKeepsBucketsAndReducesAllGradients) {
  Job job{"ddp", 4};
  job.model.blocks.front().float_buffer_bytes = 40;
  job.model.blocks.front().buffer_bytes = 48;
  EXPECT_EQ(job.cost().always(), 3 * parameters + 48);
  EXPECT_EQ(job.cost().at_most(), 4 * parameters + 48);
  EXPECT_THAT(job.sent(), UnorderedElementsAre(Pair("dp allreduce", parameters), Pair("dp broadcast", 40)));
  job.options.ddp.broadcast_buffers = false;
  EXPECT_THAT(job.sent(), UnorderedElementsAre(Pair("dp allreduce", parameters)));
}

TEST(Costs, DdpUpdatesFromItsBucketsWhenGradientsOfTheirOwnAreGone) {
  Job job{"ddp", 2};
  job.options.optimizer.kind = OptimizerKind::adamw;
  EXPECT_EQ(job.cost().always(), 4 * parameters);
  EXPECT_EQ(job.cost().at_most(), 5 * parameters) << "in backward; the update needs less";
  const std::int64_t own = job.cost().at_most();
  job.options.ddp.implementation = DdpImplementation::c10d;
  EXPECT_GT(job.cost().at_most(), own) << "gradients stay, and the update comes on top";
}

TEST(Costs, LossesAreSentInSomeSteps) {
  Job job{"ddp", 2};
  job.options.log_every = 10;
  EXPECT_EQ(job.cost().sent(), parameters);
  EXPECT_EQ(job.cost().traffic.back(), (TrafficCost{"dp", "allreduce", 1, 24, "losses", 10}));
  job.options.log_every = 1;
  EXPECT_EQ(job.cost().sent(), parameters + 24);
}

// Buckets of 10 + 2 and of 15 + 5 elements, whose shards of 3 ranks are of 4 and 7.
Job zero(const std::string& mode) {
  Job job{mode, 3};
  job.options.ddp.bucket_mb = 48.0 / 1024 / 1024;
  return job;
}

TEST(Costs, ZeroOneSharesTheOptimizersState) {
  const Job job = zero("zero1");
  EXPECT_EQ(job.cost().always(), 4 * (33 + 11));
  EXPECT_EQ(job.cost().at_most(), 4 * (33 + 11) + 4 * (33 + 15));  // both buckets, and the first weight's gradient
  EXPECT_THAT(job.sent(), UnorderedElementsAre(Pair("dp reduce_scatter", 4 * 11), Pair("dp allgather", 4 * 11)));
}

TEST(Costs, ZeroTwoDropsWhatIsReduced) {
  Job job = zero("zero2");
  EXPECT_EQ(job.cost().always(), 4 * (33 + 11));
  // When the first weight's gradient arrives, both buckets are there: the one before is not settled yet.
  EXPECT_EQ(job.cost().at_most(), 4 * (33 + 11) + 4 * (12 + 21 + 15));
  job.options.accumulate = 2;
  EXPECT_EQ(job.cost().at_most(), 4 * (33 + 11) + 4 * (12 + 21 + 15 + 11));  // and shards of the first micro-step
  EXPECT_THAT(job.sent(), UnorderedElementsAre(Pair("dp reduce_scatter", 8 * 11), Pair("dp allgather", 4 * 11)));
}

TEST(Costs, ZeroThreeHoldsShardsAndGathersBlocks) {
  Job job{"zero3", 3};  // units of 21 and 12 elements
  EXPECT_EQ(job.cost().always(), 4 * (11 + 11));
  // In backward of the first block: it is gathered, its gradients are made, those of the second are on their way.
  EXPECT_EQ(job.cost().at_most(), 4 * (11 + 11) + 4 * (21 + 20 + 12));
  EXPECT_THAT(job.sent(), UnorderedElementsAre(Pair("dp reduce_scatter", 4 * 11), Pair("dp allgather", 8 * 11)));
}

TEST(Costs, ReplicasOfOneProcessGoThroughItsFirstDevice) {
  Job job{"dp", 1};
  job.options.devices = 3;
  EXPECT_EQ(job.cost().always(), 4 * parameters);  // three copies, one momentum
  EXPECT_EQ(job.cost().at_most(), 7 * parameters);
  EXPECT_THAT(job.sent(), UnorderedElementsAre(
                              Pair("devices broadcast", 2 * parameters), Pair("devices reduce", 2 * parameters),
                              Pair("devices scatter", 2 * 8 * (12 + 2 * 4)), Pair("devices gather", 2 * 8 * 2 * 4)));
}

TEST(Costs, DevicesOfOneProcessCopyWhatFlows) {
  Job job{"mp", 1};
  job.options.devices = 2;
  job.model.split = {1, 1};
  EXPECT_EQ(job.cost().always(), 2 * parameters);
  EXPECT_THAT(job.sent(), UnorderedElementsAre(Pair("devices copy", 2 * 8 * 5 * 4)));
}

TEST(Costs, PipelinesDifferByRank) {
  Job job{"pp", 2};
  job.model.split = {1, 1};
  job.plan.pipeline = two_ranks("gpipe", 4);
  const auto costs = job.costs();
  ASSERT_EQ(costs.size(), 2u);
  EXPECT_EQ(costs[0].always(), 2 * 4 * 20);
  EXPECT_EQ(costs[1].at_most(), 3 * 4 * 12);
  EXPECT_EQ(largest(costs).rank, 0);
  EXPECT_EQ(costs[0].has, "stage 0");
  EXPECT_THAT(job.sent(0), UnorderedElementsAre(Pair("pp forward send", 8 * 5 * 4)));
  EXPECT_THAT(job.sent(1), UnorderedElementsAre(Pair("pp backward send", 8 * 5 * 4)));
}

TEST(Costs, StagesOfOneRankSendNothingToOneAnother) {
  Job job{"pp", 2};
  job.model.blocks.push_back({.name = "third", .parameters = {{"weight", {2, 2}}}, .output = 2});
  job.model.blocks.push_back({.name = "fourth", .parameters = {{"weight", {2, 2}}}, .output = 2});
  job.model.split = {1, 1, 1, 1};
  job.plan.pipeline = two_ranks("zb-v", 4);
  EXPECT_EQ(job.costs()[0].has, "stages 0 and 3");
  EXPECT_THAT(job.sent(0),
              UnorderedElementsAre(Pair("pp forward send", 8 * 5 * 4), Pair("pp backward send", 8 * 2 * 4)));
  EXPECT_THAT(job.sent(1),
              UnorderedElementsAre(Pair("pp forward send", 8 * 2 * 4), Pair("pp backward send", 8 * 5 * 4)));
}

// A column and a row, of which each of two ranks has half.
ModelSize halves() {
  ModelSize model{.element_bytes = 4, .labels = 3, .shares_loss = true};
  model.blocks = {{.name = "layer",
                   .parameters = {{"norm", {6}, true}, {"column", {6, 6}}, {"row", {6, 6}}},
                   .output = 18,
                   .shared = {{SharedLayer::Kind::column, 18}, {SharedLayer::Kind::row, 18}}}};
  return model;
}

TEST(Costs, LayersAreSummedInForwardAndBackward) {
  Job job{"tp", 2};
  job.model = halves();
  EXPECT_THAT(job.sent(), UnorderedElementsAre(Pair("tp allreduce", 4 * 6 + 8 * 4 * (18 + 18 + 3 * 3))));
  job.model.blocks.front().parameters.front().has_gradient_terms = false;  // without a split sequence there are none
  job.model.blocks.front().shared.front().input_needs_gradient = false;
  EXPECT_THAT(job.sent(), UnorderedElementsAre(Pair("tp allreduce", 8 * 4 * (18 + 3 * 3))));
}

TEST(Costs, ASplitSequenceIsGatheredAndScattered) {
  Job job{"tp+sp", 2};
  job.model = halves();
  EXPECT_THAT(job.sent(),
              UnorderedElementsAre(Pair("tp allreduce", 4 * 6 + 8 * 4 * 3 * 3), Pair("tp allgather", 3 * 8 * 4 * 9),
                                   Pair("tp reduce_scatter", 2 * 8 * 4 * 9)));
  EXPECT_EQ(job.cost().at_most(), 3 * 4 * 78 + 4 * 6);  // gradients of the norm are packed to be summed
}

// One layer of 2 channels and 8 x 6 pixels with a kernel of 3, on 2 x 2 tiles.
Job tiled() {
  Job job{"tile", 4};
  job.plan.tiles = TileGrid{2, 2};
  job.model.blocks.front().windows = {{.window = {3, 1, 1}, .channels = 2, .rows = 8, .columns = 6}};
  job.model.blocks.front().norms = {5};
  job.model.blocks.back().means = {{.channels = 5}};
  return job;
}

TEST(Costs, TilesSendTheirBordersAndWhatHoldsForTheImage) {
  const Job job = tiled();
  const std::int64_t rows = 3 * 2 * 8 * 4;           // columns of a tile x channels x samples
  const std::int64_t columns = (4 + 2) * 2 * 8 * 4;  // with halos of rows
  EXPECT_THAT(job.sent(), UnorderedElementsAre(
                              Pair("tile allreduce", parameters), Pair("tile halo send", 2 * rows + 2 * columns),
                              Pair("tile halo allgather", 11 * 4), Pair("tile halo allreduce", 10 * 4 + 5 * 8 * 4)));
  EXPECT_EQ(job.costs().size(), 4u);
  EXPECT_EQ(job.costs()[3].has, "tile 1, 1");
}

TEST(Costs, TilesWithoutHalosAndFirstLayersSendLess) {
  Job job = tiled();
  job.model.blocks.front().windows.front().input_needs_gradient = false;
  EXPECT_EQ(job.sent().at("tile halo send"), 3 * 2 * 8 * 4 + (4 + 2) * 2 * 8 * 4);
  job.options.tile.exchange_halos = false;
  EXPECT_FALSE(job.sent().contains("tile halo send"));
}

TEST(Costs, AMeshSendsWithinItsGroups) {
  Job job{"3d", 8};
  job.options.mesh.shape = {.data = 2, .tensor = 2, .pipeline = 2};
  job.plan.mesh.emplace(job.options.mesh.shape, 0);
  job.plan.pipeline = two_ranks("1f1b", 2);
  job.model = halves();
  job.model.blocks.front().parameters.front().has_gradient_terms = false;
  job.model.blocks.push_back({.name = "head", .parameters = {{"weight", {7}}}, .output = 3});
  job.model.split = {1, 1};
  EXPECT_THAT(job.sent(0),
              UnorderedElementsAre(Pair("tp of 0 allreduce", 8 * 4 * 36), Pair("dp of 0 allreduce", 4 * 78),
                                   Pair("pp forward of 0 send", 8 * 4 * 18)));
  EXPECT_THAT(job.sent(1), UnorderedElementsAre(Pair("tp of 4 allreduce", 8 * 4 * 9), Pair("dp of 4 allreduce", 4 * 8),
                                                Pair("pp backward of 0 send", 8 * 4 * 18)));
  EXPECT_EQ(job.costs()[1].always(), 4 * (8 + 7));  // one element of padding, and momentum of the rest
  job.options.mesh.zero1 = true;
  EXPECT_EQ(job.costs()[1].always(), 4 * (8 + 4));
  job.options.mesh.sequence = SequenceParallel::yes;
  EXPECT_EQ(job.sent(0).at("pp forward of 0 send"), 8 * 4 * 9);
  EXPECT_EQ(job.sent(0).at("dp of 0 allgather"), 4 * 39);
}

TEST(Costs, InMixedPrecisionWhatFlowsHasHalfTheBytes) {
  Job job{"pp", 2};
  job.model.activation_bytes = 2;
  job.model.split = {1, 1};
  job.plan.pipeline = two_ranks("gpipe", 4);
  EXPECT_THAT(job.sent(0), UnorderedElementsAre(Pair("pp forward send", 8 * 5 * 2)));
  EXPECT_EQ(job.costs()[0].always(), 2 * 4 * 20);
  EXPECT_EQ(job.costs()[0].at_most(), 3 * 4 * 20 + 2 * 15) << "and the gradient of the weight before it is cast";
}

TEST(Costs, InMixedPrecisionGradientsStatisticsAndLossesHaveNot) {
  Job tiles = tiled();
  tiles.model.activation_bytes = 2;
  const Job in_f32 = tiled();
  for (const char* same : {"tile allreduce", "tile halo allgather", "tile halo allreduce"})
    EXPECT_EQ(tiles.sent().at(same), in_f32.sent().at(same)) << same;
  EXPECT_EQ(2 * tiles.sent().at("tile halo send"), in_f32.sent().at("tile halo send"));
  Job split{"tp", 2};
  split.model = halves();
  split.model.activation_bytes = 2;
  EXPECT_THAT(split.sent(), UnorderedElementsAre(Pair("tp allreduce", 4 * 6 + 8 * (2 * (18 + 18) + 4 * 3 * 3))));
}

TEST(Costs, TheTextNamesTheRankAndWhatIsNotInIt) {
  Job job{"pp", 2};
  job.model.split = {1, 1};
  job.plan.pipeline = two_ranks("gpipe", 4);
  const std::string text = cost_text(job.question(), job.costs());
  EXPECT_THAT(text, HasSubstr("needs of rank 0 (stage 0); no other rank needs more memory"));
  EXPECT_THAT(text, HasSubstr("parameters          80  always"));
  EXPECT_THAT(text, HasSubstr("Activations, samples"));
  EXPECT_THAT(text, Not(HasSubstr(" \n")));
}

}  // namespace
}  // namespace rankscope::trainer
