// Ids are types, not integers: a rank cannot be passed where a lane is wanted.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

namespace rankscope {

/// An index with a tag; `none()` means "not set".
template <class Tag>
struct Id {
  std::uint32_t value = std::numeric_limits<std::uint32_t>::max();

  static constexpr Id none() { return {}; }
  [[nodiscard]] constexpr bool is_set() const { return value != std::numeric_limits<std::uint32_t>::max(); }
  [[nodiscard]] constexpr std::size_t index() const { return value; }
  auto operator<=>(const Id&) const = default;
};

using RankId = Id<struct RankTag>;      ///< global rank of a training process
using LaneId = Id<struct LaneTag>;      ///< row of Run::lanes()
using StringId = Id<struct StringTag>;  ///< entry of a StringTable
using SpanId = Id<struct SpanTag>;      ///< row of Run::spans()
using GroupId = Id<struct GroupTag>;    ///< row of Run::groups()

}  // namespace rankscope

/// For unordered maps; ids of different tags stay different types.
template <class Tag>
struct std::hash<rankscope::Id<Tag>> {
  std::size_t operator()(rankscope::Id<Tag> id) const noexcept { return std::hash<std::uint32_t>{}(id.value); }
};
