// Numbers for the keys of a table, cheap enough to ask for every span.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {

/// Numbers keys by first appearance. A Key has a `name`; the few keys of a name are chained, so that nothing is hashed.
template <class Key>
class KeyNumbers {
 public:
  explicit KeyNumbers(const Run& run) : first_(run.strings().size(), none) {}

  std::size_t operator()(const Key& key) {
    std::uint32_t* place = &first_[key.name.index()];
    while (*place != none && keys_[*place] != key) place = &next_[*place];
    if (*place != none) return *place;
    *place = static_cast<std::uint32_t>(keys_.size());
    keys_.push_back(key);
    next_.push_back(none);
    return keys_.size() - 1;
  }
  [[nodiscard]] std::span<const Key> keys() const { return keys_; }

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  std::vector<std::uint32_t> first_;  // by name
  std::vector<std::uint32_t> next_;   // parallel to keys_
  std::vector<Key> keys_;
};

}  // namespace rankscope::analyzer
