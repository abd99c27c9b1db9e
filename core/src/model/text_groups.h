// Groups of the text form: a name may stand for several groups, one for each set of ranks.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/id.h"
#include "rankscope/core/result.h"

namespace rankscope::text {

/// Errors (`unreadable`) for words that are none.
[[nodiscard]] Result<std::int64_t> integer(std::string_view word);
[[nodiscard]] Result<RankId> rank_from(std::string_view word);
/// "0,1,2"
[[nodiscard]] Result<std::vector<RankId>> ranks_from(std::string_view list);

/// The groups declared so far.
class Groups {
 public:
  void declare(const std::string& name, std::vector<RankId> members, GroupId id);
  /// The one of that name that is meant on a rank: with these members if a list is given, else the latest that the rank
  /// belongs to, else the latest.
  [[nodiscard]] Result<GroupId> find(std::string_view name, RankId rank, std::optional<std::string_view> members) const;

 private:
  struct Declared {
    std::vector<RankId> members;
    GroupId id;
  };
  std::map<std::string, std::vector<Declared>, std::less<>> by_name_;
};

}  // namespace rankscope::text
