#include "inject/c10d/groups.h"

#include <memory>
#include <utility>

#include "inject/c10d/pointer_map.h"
#include "rankscope/core/recording/rank_list.h"

namespace rankscope::inject::c10d {
namespace {

PointerMap<4096> groups;
thread_local Group* expected = nullptr;

}  // namespace

std::int32_t Group::rank_of(std::int64_t member) const {
  return member >= 0 && static_cast<std::size_t>(member) < ranks.size() ? ranks[static_cast<std::size_t>(member)] : -1;
}

void expect_backend(std::string_view name, std::string_view members) {
  auto group = std::make_unique<Group>();
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
  if (known != nullptr && known->name == expected->name && known->members == expected->members)
    delete std::exchange(expected, nullptr);
  else
    groups.put(backend, reinterpret_cast<std::uintptr_t>(std::exchange(expected, nullptr)));
}

Group* group_of(const void* backend) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the map keeps numbers
  return reinterpret_cast<Group*>(static_cast<std::uintptr_t>(groups.get(backend)));
}

void forget_backend(const void* backend) { groups.take(backend); }

}  // namespace rankscope::inject::c10d
