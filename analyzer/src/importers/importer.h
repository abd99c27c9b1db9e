// What every importer of a foreign trace takes and gives.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "rankscope/core/model/run.h"
#include "rankscope/core/result.h"

namespace rankscope::analyzer {

/// Told now and then which share of the input has been read, 0 to 1.
using Progress = std::function<bool(double)>;

struct ImportOptions {
  std::map<std::string, std::uint32_t> rank_map{};  ///< file name -> rank (--rank-map FILE=R,...)
  Progress progress{};
  unsigned threads = 0;
};

}  // namespace rankscope::analyzer
