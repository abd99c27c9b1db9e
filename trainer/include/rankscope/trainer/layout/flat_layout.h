// How parameters are laid out to be owned in equal parts (ZeRO, docs/zero.md): behind one another in flat units, each
// padded to a multiple of the ranks and cut into as many shards. All numbers are elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankscope::trainer {

/// Parameters behind one another.
struct FlatUnit {
  std::vector<std::size_t> parameters{};  ///< indices into those of the model, in their order here
  std::vector<std::int64_t> begins{};     ///< of each of them in the unit
  std::int64_t used = 0;                  ///< elements of all of them
  std::int64_t padded = 0;                ///< elements of the unit: a multiple of the ranks
};

/// A piece of a flattened parameter in a shard.
struct OwnedRange {
  std::size_t parameter = 0;
  std::int64_t begin = 0;  ///< in the parameter
  std::int64_t end = 0;
  std::size_t unit = 0;
  std::int64_t at = 0;  ///< where it begins in the unit's shard
  bool operator==(const OwnedRange&) const = default;
};

/// How the parameters of each unit are laid out one behind the other and cut into equal shards, one for each rank.
class FlatLayout {
 public:
  /// `sizes` are those of the parameters. Each of them is in one of `units`, and no unit is without elements.
  FlatLayout(std::span<const std::int64_t> sizes, std::vector<std::vector<std::size_t>> units, int ranks);

  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] const std::vector<FlatUnit>& units() const { return units_; }
  /// Elements of each rank's shard of a unit.
  [[nodiscard]] std::int64_t shard_size(std::size_t unit) const { return units_[unit].padded / ranks_; }
  /// What a rank owns, unit by unit, in the order in which it lies in the shards. Padding belongs to nobody.
  [[nodiscard]] std::vector<OwnedRange> owned_by(int rank) const;

 private:
  std::vector<std::int64_t> sizes_;
  std::vector<FlatUnit> units_;
  int ranks_;
};

}  // namespace rankscope::trainer
