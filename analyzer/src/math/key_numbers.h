// Numbers for the keys of a table, cheap enough to ask for every span.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace rankscope::analyzer {

/// Numbers keys by first appearance. A Key has a `name` and an order; that of a name which was asked for last is found
/// without a search.
template <class Key>
class KeyNumbers {
 public:
  /// `strings`: how many the run has.
  explicit KeyNumbers(std::size_t strings) : last_(strings, none) {}

  std::size_t operator()(const Key& key) {
    std::uint32_t& last = last_[key.name.index()];
    if (last != none && keys_[last] == key) return last;
    const auto [found, added] = numbers_.try_emplace(key, static_cast<std::uint32_t>(keys_.size()));
    if (added) keys_.push_back(key);
    return last = found->second;
  }
  [[nodiscard]] std::span<const Key> keys() const { return keys_; }

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  std::vector<std::uint32_t> last_;  // by name
  std::map<Key, std::uint32_t> numbers_;
  std::vector<Key> keys_;
};

}  // namespace rankscope::analyzer
