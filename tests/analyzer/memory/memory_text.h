// Allocations of one rank as text, with the totals that an allocator would tell.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "rankscope/core/format.h"

namespace rankscope::testing {

/// What its allocator would write, call after call.
class Heap {
 public:
  struct Start {
    std::int64_t allocated = 0;  ///< before the recording
    std::int64_t reserved = 0;
  };
  Heap(std::uint32_t rank, Start start) : rank_(rank), allocated_(start.allocated), reserved_(start.reserved) {}

  Heap& take(std::int64_t time, std::int64_t address, std::int64_t bytes) {
    blocks_[address] = bytes;
    return change(time, address, bytes);
  }
  Heap& give(std::int64_t time, std::int64_t address) { return change(time, address, -blocks_[address]); }
  /// `bytes` < 0: released. A release of what was there before, or one whose block is not looked up.
  Heap& change(std::int64_t time, std::int64_t address, std::int64_t bytes) {
    allocated_ += bytes;
    reserved_ = std::max(reserved_, allocated_);
    text_ += format(
        "{} mark {} [memory] \"Device Type\"=1 \"Device Id\"=0 Addr={} Bytes={} \"Total Allocated\"={} \"Total "
        "Reserved\"={} lane=main\n",
        rank_, time, address, bytes, allocated_, reserved_);
    return *this;
  }
  /// Without a mark: its release is lost, say.
  Heap& forget(std::int64_t bytes) {
    allocated_ -= bytes;
    return *this;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::uint32_t rank_;
  std::int64_t allocated_;
  std::int64_t reserved_;
  std::map<std::int64_t, std::int64_t> blocks_;
  std::string text_;
};

/// A rank with one device of 100,000 bytes.
inline std::string gpu_rank(std::uint32_t rank, std::int64_t total_bytes = 100'000) {
  return format(
      "@rank {0} pid={1}\n@device {0} 0 name=H200 meta.totalGlobalMem={2}\n@lane {0} main kind=thread number=1\n"
      "@lane {0} s7 kind=stream number=7 device=0\n",
      rank, 1000 + rank, total_bytes);
}

}  // namespace rankscope::testing
