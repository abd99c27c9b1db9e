// Which names a run spends most time in, so that these get colours of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::gui {

/// By StringId: 0 of the name with the longest total time of all its spans, and so on. Names that differ in digits only
/// share a place. The same whenever the run is read.
class NamePlaces {
 public:
  static constexpr std::uint8_t none = 255;  ///< it is not among the first

  /// If it was stopped while it was built, it must not be asked anything.
  NamePlaces(const Run& run, std::size_t first, const std::stop_token& stop = {});
  [[nodiscard]] std::uint8_t of(StringId name) const { return places_[name.index()]; }

 private:
  std::vector<std::uint8_t> places_;
};

}  // namespace rankscope::gui
