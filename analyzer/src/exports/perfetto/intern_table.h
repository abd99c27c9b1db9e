// Numbers for strings that are declared where they are first used, anew in each packet sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "rankscope/core/id.h"

namespace rankscope::analyzer {

/// One kind of interned string. Forgets everything in constant time.
class InternTable {
 public:
  struct Entry {
    std::uint32_t iid;
    bool fresh;  ///< used for the first time in this sequence: declare it
  };

  explicit InternTable(std::size_t strings, std::uint32_t reserved = 0) : slots_(strings), reserved_(reserved) {}

  void begin_sequence() {
    ++sequence_;
    used_ = reserved_;
  }
  /// Numbers count from `reserved` + 1 in order of first use.
  Entry of(StringId id) {
    Slot& slot = slots_[id.index()];
    if (slot.sequence == sequence_) return {slot.iid, false};
    slot = {sequence_, ++used_};
    return {slot.iid, true};
  }

 private:
  struct Slot {
    std::uint32_t sequence = 0;
    std::uint32_t iid = 0;
  };
  std::vector<Slot> slots_;
  std::uint32_t reserved_;
  std::uint32_t sequence_ = 0;
  std::uint32_t used_ = 0;
};

}  // namespace rankscope::analyzer
