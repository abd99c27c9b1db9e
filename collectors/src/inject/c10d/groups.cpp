#include "inject/c10d/groups.h"

#include <memory>
#include <utility>

#include "inject/c10d/pointer_map.h"
#include "inject/recorder/thread_state.h"
#include "rankscope/core/format.h"
#include "rankscope/core/recording/rank_list.h"

namespace rankscope::inject::c10d {
namespace {

PointerMap<4096> groups;
thread_local Group* expected = nullptr;
std::atomic<const Group*> newest{nullptr};  // of all that were met

bool are_same(const Group& a, const Group& b) { return a.torch_name == b.torch_name && a.members == b.members; }

/// torch.distributed uses its names again after destroy_process_group, while the operations of the new group are
/// counted from 0. All members make the same groups in one order, so they agree on this name.
void name_apart(Group& group) {
  std::size_t earlier = 0;
  for (const Group* one = newest.load(std::memory_order_acquire); one != nullptr; one = one->older)
    if (are_same(*one, group)) ++earlier;
  if (earlier > 0) group.name = format("{} ({})", group.torch_name, earlier + 1);
}

void add(Group* group) {
  group->older = newest.load(std::memory_order_relaxed);
  while (!newest.compare_exchange_weak(group->older, group, std::memory_order_release)) {
  }
}

}  // namespace

std::int32_t Group::rank_of(std::int64_t member) const {
  return member >= 0 && static_cast<std::size_t>(member) < ranks.size() ? ranks[static_cast<std::size_t>(member)] : -1;
}

void expect_backend(std::string_view name, std::string_view members) {
  auto group = std::make_unique<Group>();
  group->torch_name = name;
  group->name = name;
  group->members = members;
  if (const auto ranks = recording::ranks_in(members))
    for (const RankId rank : *ranks) group->ranks.push_back(static_cast<std::int32_t>(rank.value));
  delete std::exchange(expected, group.release());
}

bool was_met() {
  const bool met = expected == nullptr;
  delete std::exchange(expected, nullptr);
  return met;
}

void meet_backend(const void* backend) {
  if (expected == nullptr) return;
  // Several devices may have one backend; it goes on counting.
  const Group* const known = group_of(backend);
  if (known != nullptr && are_same(*known, *expected)) return delete std::exchange(expected, nullptr);
  Group* const group = std::exchange(expected, nullptr);
  guarded([group] { name_apart(*group); });
  add(group);
  groups.put(backend, reinterpret_cast<std::uintptr_t>(group));
}

Group* group_of(const void* backend) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the map keeps numbers
  return reinterpret_cast<Group*>(static_cast<std::uintptr_t>(groups.get(backend)));
}

void forget_backend(const void* backend) { groups.take(backend); }

}  // namespace rankscope::inject::c10d
