// Process groups, by the address of the backend that carries out their operations.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::inject::c10d {

/// Lives as long as the process: operations may end after their group has.
struct Group {
  std::string torch_name;            ///< as torch.distributed has it
  std::string name;                  ///< equal on all members, and of no earlier group with these members
  std::string members;               ///< as the recording keeps them: "0,1,2"
  std::vector<std::int32_t> ranks;   ///< of the job, in group order; empty: they are not known
  std::atomic<std::int64_t> next{};  ///< number of the next collective; all members call them in one order
  const Group* older = nullptr;      ///< the group that was met before this one

  /// -1: there is no such member.
  [[nodiscard]] std::int32_t rank_of(std::int64_t member) const;
};

/// The backend that is met next on this thread belongs to this group.
void expect_backend(std::string_view name, std::string_view members);
/// Whether it was met; it is not expected any more.
bool was_met();
/// Is called where a backend is asked something that does no harm.
void meet_backend(const void* backend);

[[nodiscard]] Group* group_of(const void* backend);
/// The backend ends; another one may get its address.
void forget_backend(const void* backend);

}  // namespace rankscope::inject::c10d
