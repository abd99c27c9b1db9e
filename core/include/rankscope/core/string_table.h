// Every distinct string of a run once, addressed by StringId.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "rankscope/core/id.h"

namespace rankscope {

/// Interns strings. Ids count from 0 in order of first appearance; views stay valid as long as the table lives.
class StringTable {
 public:
  StringTable() = default;
  StringTable(const StringTable&) = delete;
  StringTable& operator=(const StringTable&) = delete;
  StringTable(StringTable&&) noexcept = default;
  StringTable& operator=(StringTable&&) noexcept = default;

  StringId intern(std::string_view text) {
    if (const auto found = index_.find(text); found != index_.end()) return found->second;
    const StringId id{static_cast<std::uint32_t>(texts_.size())};
    texts_.emplace_back(text);
    index_.emplace(texts_.back(), id);
    return id;
  }
  /// The id of a known string, or none.
  [[nodiscard]] StringId find(std::string_view text) const {
    const auto found = index_.find(text);
    return found == index_.end() ? StringId::none() : found->second;
  }
  /// Empty for an id that is not set.
  [[nodiscard]] std::string_view text(StringId id) const {
    return id.index() < texts_.size() ? std::string_view{texts_[id.index()]} : std::string_view{};
  }
  /// Puts another text in the place of one that nothing may find any more. Views of the old text dangle.
  void replace(StringId id, std::string_view text) {
    std::string& old = texts_[id.index()];
    index_.erase(old);
    old = text;
    index_.try_emplace(old, id);
  }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;  // a deque never moves its strings, so the views in index_ stay valid
  std::unordered_map<std::string_view, StringId> index_;
};

}  // namespace rankscope
