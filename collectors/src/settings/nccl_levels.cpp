#include "rankscope/collectors/nccl_levels.h"

#include <algorithm>
#include <array>

#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

struct Named {
  std::string_view id;
  NcclLevels contains;
};
constexpr std::array level_table{Named{"coll", {0b0001}}, Named{"p2p", {0b0011}}, Named{"proxy", {0b0111}},
                                 Named{"kernel", {0b1011}}};

}  // namespace

Result<NcclLevels> nccl_levels_from(std::string_view list) {
  if (list.empty()) return default_nccl_levels;
  NcclLevels levels;
  while (!list.empty()) {
    const std::string_view id = list.substr(0, list.find(','));
    list.remove_prefix(std::min(list.size(), id.size() + 1));
    const auto* const found = std::ranges::find(level_table, id, &Named::id);
    if (found == level_table.end())
      return fail(ErrorKind::usage, format("--nccl: unknown level '{}'; choose from coll, p2p, proxy, kernel", id));
    levels.bits |= found->contains.bits;
  }
  return levels;
}

std::string name_of(NcclLevels levels) {
  if (levels.has(NcclLevel::proxy)) return levels.has(NcclLevel::kernel) ? "proxy,kernel" : "proxy";
  if (levels.has(NcclLevel::kernel)) return "kernel";
  return levels.has(NcclLevel::p2p) ? "p2p" : "coll";
}

}  // namespace rankscope::collectors
