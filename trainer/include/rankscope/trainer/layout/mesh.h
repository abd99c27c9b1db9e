// Ranks in three directions: tensor, data and pipeline parallel.
#pragma once

#include <cstdint>
#include <vector>

#include "rankscope/core/result.h"

namespace rankscope::trainer {

/// Whether ranks that split layers share the sequence, too, where layers are not split: between the blocks, and in the
/// norms.
enum class SequenceParallel : std::uint8_t { no, yes };

/// How often the ranks are divided in each direction.
struct MeshShape {
  int data = 1;
  int tensor = 1;
  int pipeline = 1;
  bool operator==(const MeshShape&) const = default;
};

/// A rank's place in the mesh, with the order of Megatron-LM (docs/mesh.md): rank = tensor + T (data + D pipeline).
class Mesh {
 public:
  Mesh(const MeshShape& shape, int rank);

  [[nodiscard]] const MeshShape& shape() const { return shape_; }
  [[nodiscard]] const MeshShape& position() const { return position_; }

  /// Global ranks that differ from this one in one direction only, in its order.
  [[nodiscard]] std::vector<int> tensor_group() const;
  [[nodiscard]] std::vector<int> data_group() const;
  [[nodiscard]] std::vector<int> pipeline_group() const;
  /// The rank at another place of the mesh.
  [[nodiscard]] int rank_at(const MeshShape& position) const;

 private:
  MeshShape shape_;
  MeshShape position_;
};

/// Sizes of 0 are not given: one of them follows from the number of ranks, the others are 1. Refuses what does not
/// multiply up to it, with the numbers.
[[nodiscard]] Result<MeshShape> mesh_shape(const MeshShape& given, int ranks);

}  // namespace rankscope::trainer
