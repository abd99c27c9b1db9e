// A state to be saved, and ranks that save it together, each on its own thread.
#pragma once

#include <barrier>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "rankscope/trainer/checkpoint/load.h"
#include "rankscope/trainer/checkpoint/save.h"
#include "rankscope/trainer/layout/sampler.h"

namespace rankscope::trainer::testing {

using Bytes = std::vector<std::byte>;

struct StateTensor {
  TensorInfo info;
  Bytes bytes;
};
using State = std::vector<StateTensor>;

/// Bytes that depend on `content` only.
inline StateTensor tensor_of(TensorInfo info, std::uint64_t content) {
  Bytes bytes(static_cast<std::size_t>(*elements_of(info) * bytes_of(info.type)));
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(mix(content, i) & 0xFF);
  return {std::move(info), std::move(bytes)};
}

/// A small model with its optimizer: 1,234 bytes of several types, one tensor without elements.
inline State state_of(std::uint64_t content) {
  return {tensor_of({"layer0.linear.weight", ElementType::f32, {12, 9}}, content),
          tensor_of({"layer0.linear.weight/momentum", ElementType::f32, {12, 9}}, content + 1),
          tensor_of({"layer0.linear.bias", ElementType::f64, {12}}, content + 2),
          tensor_of({"optimizer/steps", ElementType::i64, {}}, content + 3),
          tensor_of({"rng", ElementType::u8, {266}}, content + 4),
          tensor_of({"empty", ElementType::bf16, {0, 4}}, content + 5)};
}

/// How ranks hold it: all of it each, or a flat shard of each tensor.
enum class Held : std::uint8_t { replicated, sharded };

inline std::vector<TensorSlice> slices_of(const State& state, Held held, int rank, int world) {
  std::vector<HeldTensor> tensors;
  for (const StateTensor& tensor : state) {
    const std::int64_t elements = *elements_of(tensor.info);
    HeldTensor& mine = tensors.emplace_back(HeldTensor{tensor.info.name, elements, bytes_of(tensor.info.type)});
    if (held == Held::sharded) mine.owned = ElementRange{elements * rank / world, elements * (rank + 1) / world};
  }
  std::vector<TensorSlice> slices;
  for (const TensorRange& entry : ranges_to_write(tensors, rank, world))
    for (const auto& [info, bytes] : state)
      if (info.name == entry.tensor) {
        const auto size = bytes_of(info.type);
        slices.push_back({info, entry.range,
                          std::span{bytes}.subspan(static_cast<std::size_t>(entry.range.begin * size),
                                                   static_cast<std::size_t>(entry.range.count() * size))});
      }
  // A tensor without elements is in no range, but belongs to the state.
  for (const auto& [info, bytes] : state)
    if (bytes.empty() && rank == 0) slices.push_back({info, {}, {}});
  return slices;
}

inline TrainingFacts facts_of(std::int64_t step, int world) {
  return {.step = step,
          .world_size = world,
          .sizes = {"ddp", world, 1, 1},
          .seed = 0xFFFF'FFFF'FFFF'FFFFu,
          .global_batch = 32,
          .model = {{"kind", "mlp"}, {"hidden", "12"}},
          .optimizer = "sgd",
          .optimizer_steps = step,
          .cursor = {2, 32 * step}};
}

/// Where the threads of ranks exchange their texts.
class MeetingPoint {
 public:
  explicit MeetingPoint(int world) : texts_(static_cast<std::size_t>(world)), all_(world) {}
  Exchange exchange(int rank) {
    return [this, rank](const std::string& mine) -> Result<std::vector<std::string>> {
      texts_[static_cast<std::size_t>(rank)] = mine;
      all_.arrive_and_wait();
      auto texts = texts_;
      all_.arrive_and_wait();
      return texts;
    };
  }

 private:
  std::vector<std::string> texts_;
  std::barrier<> all_;
};

/// What each rank gets from saving; `slices` gives those of a rank.
template <class Slices>
std::vector<Result<SavedCheckpoint>> save_slices(const SaveOptions& options, std::int64_t step, int world,
                                                 const Slices& slices) {
  MeetingPoint meeting{world};
  std::vector<Result<SavedCheckpoint>> results(static_cast<std::size_t>(world), SavedCheckpoint{});
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < world; ++rank)
      ranks.emplace_back([&, rank] {
        results[static_cast<std::size_t>(rank)] =
            save_checkpoint(options, {rank, world, meeting.exchange(rank)}, facts_of(step, world), slices(rank));
      });
  }
  return results;
}

inline std::vector<Result<SavedCheckpoint>> save(const SaveOptions& options, const State& state, std::int64_t step,
                                                 int world = 1, Held held = Held::replicated) {
  return save_slices(options, step, world, [&](int rank) { return slices_of(state, held, rank, world); });
}

inline std::vector<TensorInfo> infos_of(const State& state) {
  std::vector<TensorInfo> infos;
  for (const StateTensor& tensor : state) infos.push_back(tensor.info);
  return infos;
}

/// The tensors of `like` as the checkpoint has them, read in `ranks` flat shards each.
inline State loaded(Checkpoint& checkpoint, const State& like, int ranks = 1) {
  State state;
  for (const StateTensor& tensor : like) {
    const std::int64_t elements = *elements_of(tensor.info);
    Bytes bytes;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto shard =
          checkpoint.read(tensor.info.name, {elements * rank / ranks, elements * (rank + 1) / ranks}).value();
      bytes.insert(bytes.end(), shard.begin(), shard.end());
    }
    state.push_back({tensor.info, std::move(bytes)});
  }
  return state;
}

inline bool equal(const State& a, const State& b) {
  return std::ranges::equal(a, b, [](const StateTensor& left, const StateTensor& right) {
    return left.info == right.info && left.bytes == right.bytes;
  });
}

}  // namespace rankscope::trainer::testing
