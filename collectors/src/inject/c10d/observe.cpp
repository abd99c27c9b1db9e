#include "inject/c10d/observe.h"

#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "inject/c10d/groups.h"
#include "inject/c10d/hooks.h"
#include "inject/c10d/tensors.h"
#include "inject/c10d/verified.h"
#include "inject/recorder/recorder.h"
#include "rankscope/core/format.h"

namespace rankscope::inject::c10d {
namespace {

constexpr const char* torch_library = "libtorch_cpu.so";

std::string observe_once(std::string_view version) {
  const std::optional<Layout> layout = layout_of(version);
  if (!layout)
    return format(
        "collectives of the gloo backend are not recorded, since rankscope has not been verified with PyTorch {} on {}",
        version, architecture_here);
  std::vector<Hook> hooks = gloo_hooks(*layout);
  for (const auto& more : {transport_hooks(), wait_hooks()}) hooks.insert(hooks.end(), more.begin(), more.end());
  // A library without these is another build than those verified: its layouts may differ, too.
  const std::string why = load_tensor_functions(torch_library)
                              ? stand_in_front(torch_library, hooks)
                              : "it does not export the functions that return the sizes of tensors";
  return why.empty() ? ""
                     : format("collectives of the gloo backend are not recorded with this build of PyTorch {}: {}",
                              version, why);
}

}  // namespace

const char* observe(const char* version) noexcept {
  static std::once_flag once;
  static std::string problem = "collectives of the gloo backend are not recorded: the recorder failed";
  if (version == nullptr) return problem.c_str();
  guarded([&] { std::call_once(once, [&] { problem = observe_once(version); }); });
  return problem.empty() ? nullptr : problem.c_str();
}

int expect_group(const char* name, const char* members) noexcept {
  return guarded([&] {
    if (name == nullptr) return was_met() ? 1 : 0;
    expect_backend(name, members == nullptr ? "" : members);
    return 1;
  });
}

}  // namespace rankscope::inject::c10d
