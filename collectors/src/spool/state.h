// What a spool is good for: one judgement for all who list spools, gather them or leave them alone.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "rankscope/core/recording/manifest.h"

namespace rankscope::collectors {

enum class SpoolUse : std::uint8_t {
  in_use,     ///< its recorder runs, or has just begun to make it
  elsewhere,  ///< its recorder is on another host, and may run there
  left,       ///< it holds segments that nobody will gather by himself
  gathered,   ///< its segments are in the recording already; what is left in it may be incomplete
  empty,      ///< nothing was recorded into it
};

struct SpoolState {
  std::filesystem::path path;
  SpoolUse use = SpoolUse::left;
  std::optional<recording::Manifest> manifest{};  ///< nothing if it cannot be read
  std::vector<std::filesystem::path> segments{};

  /// The recording that it is meant for; empty if it does not say so.
  [[nodiscard]] std::filesystem::path out() const;
};

/// Of a folder named like a spool, or that has the manifest of one.
[[nodiscard]] SpoolState state_of(const std::filesystem::path& spool);

/// How many processes of this host that this user may look at would record into the spool: it stands in their
/// environment. One that has not recorded anything yet has no segment.
[[nodiscard]] std::uint64_t processes_with(const std::filesystem::path& spool);

/// True if OUT can take what is in the spool: it has its mark, or does not exist yet and can be made.
[[nodiscard]] bool can_take(const std::filesystem::path& out, const std::filesystem::path& spool);

}  // namespace rankscope::collectors
