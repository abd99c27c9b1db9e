#include "rankscope/trainer/checkpoint/share.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "rankscope/core/result.h"

namespace rankscope::trainer {
namespace {

struct Piece {
  std::size_t tensor = 0;  // index in the list of held tensors
  ElementRange range;
  std::int64_t bytes = 0;
};

// Pieces of at most an even share, and at least one element.
std::vector<Piece> pieces_of(std::span<const HeldTensor> held, const std::vector<std::size_t>& replicated,
                             std::int64_t ranks) {
  std::int64_t bytes = 0;
  for (const std::size_t index : replicated) bytes += held[index].elements * held[index].element_bytes;
  const std::int64_t share = (bytes + ranks - 1) / ranks;
  std::vector<Piece> pieces;
  for (const std::size_t index : replicated) {
    const HeldTensor& tensor = held[index];
    const std::int64_t most = std::max<std::int64_t>(1, share / tensor.element_bytes);
    for (std::int64_t begin = 0; begin < tensor.elements; begin += most) {
      const std::int64_t end = std::min(tensor.elements, begin + most);
      pieces.push_back({index, {begin, end}, (end - begin) * tensor.element_bytes});
    }
  }
  return pieces;
}

// The largest piece goes to the rank that has least: at most 4/3 of the best that is possible (Graham 1969).
void add_share(std::vector<Piece> pieces, std::size_t position, std::size_t ranks, std::vector<Piece>& mine) {
  std::ranges::stable_sort(pieces, std::greater{}, &Piece::bytes);
  std::vector<std::int64_t> load(ranks);
  for (const Piece& piece : pieces) {
    const auto least = std::ranges::min_element(load);
    *least += piece.bytes;
    if (static_cast<std::size_t>(least - load.begin()) == position) mine.push_back(piece);
  }
}

}  // namespace

std::vector<TensorRange> ranges_to_write(std::span<const HeldTensor> held, int rank, int world) {
  RS_CHECK(rank >= 0 && rank < world);
  std::vector<int> everybody(static_cast<std::size_t>(world));
  std::iota(everybody.begin(), everybody.end(), 0);
  std::vector<Piece> mine;
  std::map<std::vector<int>, std::vector<std::size_t>> sets;
  for (std::size_t i = 0; i < held.size(); ++i) {
    if (const auto& owned = held[i].owned) {
      RS_CHECK(owned->begin >= 0 && owned->begin <= owned->end && owned->end <= held[i].elements);
      if (owned->count() > 0) mine.push_back({i, *owned, 0});
    } else {
      sets[held[i].replicas.empty() ? everybody : held[i].replicas].push_back(i);
    }
  }
  for (const auto& [ranks, replicated] : sets) {
    const auto position = std::ranges::find(ranks, rank);
    RS_CHECK(position != ranks.end());
    add_share(pieces_of(held, replicated, std::ssize(ranks)), static_cast<std::size_t>(position - ranks.begin()),
              ranks.size(), mine);
  }
  std::ranges::sort(mine, {}, [](const Piece& piece) { return std::pair{piece.tensor, piece.range.begin}; });
  std::vector<TensorRange> ranges;
  for (const Piece& piece : mine) {
    // Neighbouring pieces of a tensor that went to one rank are one range again.
    const bool goes_on = !ranges.empty() && ranges.back().tensor == held[piece.tensor].name &&
                         ranges.back().range.end == piece.range.begin;
    if (goes_on)
      ranges.back().range.end = piece.range.end;
    else
      ranges.push_back({held[piece.tensor].name, piece.range});
  }
  return ranges;
}

}  // namespace rankscope::trainer
