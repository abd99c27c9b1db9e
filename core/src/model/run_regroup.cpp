// A copy of a run in which rows of collectives have found the operations that they are parts of.
#include "run_builder_pending.h"

namespace rankscope {
namespace {

void add_groups(std::span<const NewGroup> added, StringTable& strings, std::vector<Group>& groups) {
  for (const NewGroup& group : added) groups.push_back({strings.intern(group.name), group.members, true});
}

}  // namespace

std::shared_ptr<const Run> RunBuilder::regrouped(const Run& run, std::span<const NewGroup> added,
                                                 std::span<const Membership> memberships) {
  const std::shared_ptr<Run> copy{Pending::copy_of(run)};
  add_groups(added, copy->strings_, copy->groups_);
  for (const Membership& found : memberships) {
    RS_CHECK(found.row < copy->collectives_.size() && found.group.index() < copy->groups_.size());
    Collective& row = copy->collectives_[found.row];
    row.group = found.group;
    row.sequence = found.sequence;
    if (!found.op.empty()) row.op = copy->strings_.intern(found.op);
  }
  Pending::order_collectives(*copy);
  return copy;
}

std::shared_ptr<const Run> RunBuilder::paired(const Run& run, std::span<const NewGroup> added,
                                              std::span<const Partner> partners) {
  const std::shared_ptr<Run> copy{Pending::copy_of(run)};
  add_groups(added, copy->strings_, copy->groups_);
  for (const Partner& found : partners) {
    RS_CHECK(found.row < copy->collectives_.size() && found.group.index() < copy->groups_.size());
    Collective& row = copy->collectives_[found.row];
    row.group = found.group;
    row.peer = found.rank.value;
  }
  Pending::order_collectives(*copy);
  return copy;
}

}  // namespace rankscope
