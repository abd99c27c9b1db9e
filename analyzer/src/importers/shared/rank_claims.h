// What all importers do with ranks: the option --rank-map, numbers in file names, claims that exclude each other.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/open.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// A process that may be a rank, as --rank-map and messages name it.
struct RankInput {
  std::filesystem::path path{};
  std::optional<std::int64_t> pid{};  ///< none: files of this kind hold one process each
  std::size_t processes = 1;          ///< that the file holds
  std::string program{};              ///< empty: not known
};

/// The rank of an input, once something tells it.
struct RankClaim {
  std::optional<std::int64_t> rank{};
  bool by_map = false;
};

/// The rank that the map gives to each input, parallel to them. An entry names a file by its name or path, and where
/// it holds several processes one of them as FILE:PID. `usage` for an entry that names nothing, or several, for two
/// that name one, and for two inputs of one rank.
[[nodiscard]] Result<std::vector<std::optional<std::int64_t>>> ranks_from_map(
    std::span<const RankInput> inputs, const std::map<std::string, std::uint32_t>& map);

/// Fails if two inputs claim one rank, naming them, or if the map gives a rank that the job does not have
/// (`world_size`, 0 = not known). `usage` where the map is at fault, else `unreadable`.
[[nodiscard]] Result<void> check_claims(std::span<const RankInput> inputs, std::span<const RankClaim> claims,
                                        std::int64_t world_size);

/// `unreadable`: nothing tells the ranks of these rows of `inputs`, which are named so that a map can be written.
[[nodiscard]] tl::unexpected<Error> no_rank_found(std::span<const RankInput> inputs, std::span<const std::size_t> rows);

/// The number in "rank-3", "rank_3", "rank3" or "worker3" in a file name; other digits mislead.
[[nodiscard]] std::optional<std::int64_t> rank_in_name(std::string_view file_name);

}  // namespace rankscope::analyzer
