// Full chunks get their checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rankscope::recording {

/// Bytes of an extent. Both ends are multiples of a page, and chunks begin and end there.
struct Stretch {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

/// Seals the full chunks of a stretch of the extent at `memory`, which consists of chunks up to `cut`. Adds to `rest`
/// the stretches in which there is something else, too. Only these are to be looked at again: the others may be thinned
/// out from now on, and a page that was given back to a full file system cannot even be read.
void seal_stretch(std::byte* memory, Stretch stretch, std::uint64_t cut, std::vector<Stretch>& rest);

}  // namespace rankscope::recording
