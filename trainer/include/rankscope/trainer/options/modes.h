// The parallel modes. What sets one apart from the others stands in its row: nothing else asks for a mode's name.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "rankscope/core/result.h"
#include "rankscope/trainer/layout/mesh.h"
#include "rankscope/trainer/options/option_groups.h"

namespace rankscope::trainer {

/// How ranks share the work; each has a file in trainer/src/modes.
enum class Work : std::uint8_t {
  alone,   ///< there is one process
  copies,  ///< every rank has a copy of the model, or shards of it, and samples of its own
  layers,  ///< a part of each layer
  tiles,   ///< a part of each image
  stages,  ///< some of the layers
  mesh,    ///< copies of stages with a part of each layer
};

/// How a process uses its devices.
enum class DeviceUse : std::uint8_t {
  one,       ///< the model is on one device
  chain,     ///< its layers are spread over them
  replicas,  ///< each has a replica
};

/// What is in shards, together with all before it.
enum class ZeroStage : std::uint8_t { none, optimizer, gradients, parameters };

/// Options that only some modes have a use for.
enum class ModeOption : std::uint8_t {
  accumulate,
  bucket_size,
  buffers,
  devices,
  mesh,
  pipeline,
  reducer,
  replica_check,
  sequence_lengths,
  split,
  sync_batch_norm,
  tiles,
  unused_head,
};

/// A set of ModeOption that can be written in a constant table.
class OptionSet {
 public:
  constexpr OptionSet(std::initializer_list<ModeOption> options) {
    for (const ModeOption option : options) bits_ |= 1U << static_cast<unsigned>(option);
  }
  [[nodiscard]] constexpr bool contain(ModeOption option) const {
    return (bits_ >> static_cast<unsigned>(option) & 1U) != 0;
  }

 private:
  unsigned bits_ = 0;
};

/// All in which one parallel mode differs from the others.
struct ModeTraits {
  std::string_view name;
  std::string_view summary;
  Work work;
  std::string_view group;  ///< the name of the group of all ranks in recordings
  OptionSet takes;
  DeviceUse devices = DeviceUse::one;
  ZeroStage zero = ZeroStage::none;
  SequenceParallel sequence = SequenceParallel::no;  ///< of layers; that of a mesh is an option
  ModelKind model = ModelKind::mlp;                  ///< the default

  [[nodiscard]] constexpr bool runs_on_one_rank() const { return work == Work::alone; }
  [[nodiscard]] constexpr bool has_stages() const { return work == Work::stages || work == Work::mesh; }
  /// Gradients of a whole model are averaged over all ranks.
  [[nodiscard]] constexpr bool averages_whole() const { return work == Work::copies || work == Work::tiles; }
};

/// A row for each mode, in modes.cpp. tests/trainer/program/train_modes_test.cpp trains with each, given nothing but
/// its name.
[[nodiscard]] std::span<const ModeTraits> all_modes();

/// The mode of that name; the error lists those there are.
[[nodiscard]] Result<const ModeTraits*> find_mode(std::string_view name);
/// One that is known to be there.
[[nodiscard]] const ModeTraits& mode_named(std::string_view name);

/// "dp, mp and ddp+mp"
[[nodiscard]] std::string modes_that_take(ModeOption option);
/// "ddp (...), ..." for --help.
[[nodiscard]] std::string mode_summaries();
/// For programs (--list-modes): a line for each mode with its name, `one` or `any` (ranks), the default model and the
/// summary, separated by tabs.
[[nodiscard]] std::string mode_lines();

}  // namespace rankscope::trainer
