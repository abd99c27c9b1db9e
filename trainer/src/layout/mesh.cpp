#include "rankscope/trainer/layout/mesh.h"

#include <cstdint>

#include "rankscope/core/format.h"

namespace rankscope::trainer {

Mesh::Mesh(const MeshShape& shape, int rank)
    : shape_(shape),
      position_{.data = rank / shape.tensor % shape.data,
                .tensor = rank % shape.tensor,
                .pipeline = rank / shape.tensor / shape.data} {
  RS_CHECK(rank >= 0 && position_.pipeline < shape.pipeline);
}

int Mesh::rank_at(const MeshShape& at) const {
  return at.tensor + shape_.tensor * (at.data + shape_.data * at.pipeline);
}

namespace {

std::vector<int> along(const Mesh& mesh, int MeshShape::*direction) {
  std::vector<int> ranks;
  MeshShape at = mesh.position();
  for (at.*direction = 0; at.*direction < mesh.shape().*direction; ++(at.*direction)) ranks.push_back(mesh.rank_at(at));
  return ranks;
}

}  // namespace

std::vector<int> Mesh::tensor_group() const { return along(*this, &MeshShape::tensor); }
std::vector<int> Mesh::data_group() const { return along(*this, &MeshShape::data); }
std::vector<int> Mesh::pipeline_group() const { return along(*this, &MeshShape::pipeline); }

Result<MeshShape> mesh_shape(const MeshShape& given, int ranks) {
  MeshShape shape = given;
  std::int64_t product = 1;
  int MeshShape::*open = nullptr;
  // Copies of the model are what is left to do with ranks that nothing else was said about.
  for (int MeshShape::*direction : {&MeshShape::pipeline, &MeshShape::tensor, &MeshShape::data}) {
    if (shape.*direction == 0) open = direction;
    if (shape.*direction == 0) shape.*direction = 1;
    product *= shape.*direction;
  }
  if (open != nullptr && ranks % product == 0) {
    shape.*open = static_cast<int>(ranks / product);
    product = ranks;
  }
  if (product == ranks) return shape;
  return fail(ErrorKind::usage, format("--dp {} x --tp {} x --pp {} makes {}, but there {}", shape.data, shape.tensor,
                                       shape.pipeline, counted(static_cast<std::uint64_t>(product), "rank"),
                                       ranks == 1 ? "is 1" : format("are {}", ranks)));
}

}  // namespace rankscope::trainer
