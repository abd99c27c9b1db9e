#include "rankscope/trainer/options/modes.h"

#include <algorithm>
#include <array>
#include <vector>

#include "rankscope/core/choices.h"
#include "rankscope/core/format.h"
#include "rankscope/trainer/options/options.h"

namespace rankscope::trainer {
namespace {

constexpr std::array mode_table = [] {
  using enum ModeOption;
  return std::array{
      ModeTraits{.name = "single",
                 .summary = "one process without communication, the baseline for the other modes",
                 .work = Work::alone,
                 .group = "",
                 .takes = {accumulate, bucket_size, buffers, reducer, sequence_lengths, sync_batch_norm, unused_head}},
      ModeTraits{.name = "dp",
                 .summary = "one process with a replica of the model on each device; device 0 collects the gradients",
                 .work = Work::alone,
                 .group = "",
                 .takes = {accumulate, devices, sequence_lengths},
                 .devices = DeviceUse::replicas},
      ModeTraits{
          .name = "mp",
          .summary = "one process with its layers spread over several devices; only one of them is busy at a time",
          .work = Work::alone,
          .group = "",
          .takes = {accumulate, devices, sequence_lengths, split},
          .devices = DeviceUse::chain},
      ModeTraits{.name = "ddp",
                 .summary = "every rank has the whole model and a part of each batch",
                 .work = Work::copies,
                 .group = "dp",
                 .takes = {accumulate, bucket_size, buffers, reducer, replica_check, sequence_lengths, sync_batch_norm,
                           unused_head}},
      ModeTraits{
          .name = "ddp+mp",
          .summary = "like ddp, with the layers of each rank spread over its devices",
          .work = Work::copies,
          .group = "dp",
          .takes = {accumulate, bucket_size, buffers, devices, replica_check, sequence_lengths, split, sync_batch_norm},
          .devices = DeviceUse::chain},
      ModeTraits{.name = "zero1",
                 .summary = "like ddp, but each rank keeps only a shard of the optimizer state",
                 .work = Work::copies,
                 .group = "dp",
                 .takes = {accumulate, bucket_size, buffers, sequence_lengths, sync_batch_norm, unused_head},
                 .zero = ZeroStage::optimizer},
      ModeTraits{.name = "zero2",
                 .summary = "like zero1, but each rank also keeps only a shard of the gradients",
                 .work = Work::copies,
                 .group = "dp",
                 .takes = {accumulate, bucket_size, buffers, sequence_lengths, sync_batch_norm, unused_head},
                 .zero = ZeroStage::gradients},
      ModeTraits{.name = "zero3",
                 .summary = "like zero2, but each rank also keeps only a shard of the parameters",
                 .work = Work::copies,
                 .group = "dp",
                 .takes = {accumulate, buffers, sequence_lengths, sync_batch_norm, unused_head},
                 .zero = ZeroStage::parameters},
      ModeTraits{.name = "tp",
                 .summary = "every rank has a part of each layer; all work on the same samples",
                 .work = Work::layers,
                 .group = "tp",
                 .takes = {accumulate},
                 .model = ModelKind::gpt},
      ModeTraits{.name = "tp+sp",
                 .summary = "like tp, but between the layers each rank has only a part of each sequence",
                 .work = Work::layers,
                 .group = "tp",
                 .takes = {accumulate},
                 .sequence = SequenceParallel::yes,
                 .model = ModelKind::gpt},
      ModeTraits{.name = "pp",
                 .summary = "a pipeline: every rank has some of the layers, and micro-batches flow through them",
                 .work = Work::stages,
                 .group = "pp",
                 .takes = {pipeline, split}},
      ModeTraits{
          .name = "tile",
          .summary = "each image is cut into tiles, one per rank, and ranks exchange halos",
          .work = Work::tiles,
          .group = "tile",
          .takes = {accumulate, bucket_size, buffers, reducer, replica_check, sync_batch_norm, tiles, unused_head},
          .model = ModelKind::cnn},
      ModeTraits{.name = "3d",
                 .summary = "data, tensor and pipeline parallelism combined: --dp D --tp T --pp P",
                 .work = Work::mesh,
                 .group = "all",
                 .takes = {bucket_size, mesh, pipeline, replica_check, split}},
  };
}();

constexpr bool is_offered(const ModeTraits& mode, const choices::Mode& choice) {
  return mode.name == choice.id && mode.runs_on_one_rank() == choice.one_rank;
}
static_assert(std::ranges::equal(mode_table, choices::modes, is_offered), "core/choices.h must list the same modes");

}  // namespace

std::span<const ModeTraits> all_modes() { return mode_table; }

Result<const ModeTraits*> find_mode(std::string_view name) {
  const auto* const mode = std::ranges::find(mode_table, name, &ModeTraits::name);
  if (mode != mode_table.end()) return mode;
  return fail(ErrorKind::usage, format("--parallel {}: no such mode; choose from: {}", name, mode_summaries()));
}

const ModeTraits& mode_named(std::string_view name) {
  const auto mode = find_mode(name);
  RS_CHECK(mode.has_value());
  return **mode;
}

std::string modes_that_take(ModeOption option) {
  std::vector<std::string_view> names;
  for (const ModeTraits& mode : mode_table)
    if (mode.takes.contain(option)) names.push_back(mode.name);
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i)
    text += format("{}{}", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  return text;
}

std::string mode_summaries() {
  std::string text;
  for (const ModeTraits& mode : mode_table)
    text += format("{}{} ({})", text.empty() ? "" : ", ", mode.name, mode.summary);
  return text;
}

std::string mode_lines() {
  std::string text;
  for (const ModeTraits& mode : mode_table)
    text += format("{}\t{}\t{}\t{}\n", mode.name, mode.runs_on_one_rank() ? "one" : "any", name_of(mode.model),
                   mode.summary);
  return text;
}

}  // namespace rankscope::trainer
