#include "inject/c10d/observe.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <string_view>

#include "inject/c10d/groups.h"
#include "inject/c10d/hooks.h"
#include "inject/c10d/tensors.h"
#include "inject/recorder/recorder.h"
#include "rankscope/core/format.h"

namespace rankscope::inject::c10d {
namespace {

constexpr const char* torch_library = "libtorch_cpu.so";

struct Verified {
  std::string_view version;  ///< all releases of it
  Layout layout;
};
// What was read in the headers and in the dynamic symbols of these versions (docs/pytorch.md, "Collectives").
constexpr std::array verified{
    Verified{"2.4", {.reduce_root = 32}},  Verified{"2.6", {.reduce_root = 32}},  Verified{"2.8", {.reduce_root = 32}},
    Verified{"2.10", {.reduce_root = 32}}, Verified{"2.11", {.reduce_root = 32}},
};

/// "2.11.0+cu130" -> "2.11".
std::string_view release_of(std::string_view version) {
  const std::size_t minor = version.find('.');
  return minor == std::string_view::npos ? version : version.substr(0, version.find_first_of(".+", minor + 1));
}

std::string observe_once(std::string_view version) {
  const auto* const known = std::ranges::find(verified, release_of(version), &Verified::version);
  if (known == verified.end())
    return format("collectives of PyTorch {} are not recorded, since rankscope has not been verified with this version",
                  version);
  std::vector<Hook> hooks = gloo_hooks(known->layout);
  for (const auto& more : {transport_hooks(), wait_hooks()}) hooks.insert(hooks.end(), more.begin(), more.end());
  // A library without these is another build than those verified: its layouts may differ, too.
  const std::string why = load_tensor_functions(torch_library) ? stand_in_front(torch_library, hooks)
                                                               : "it does not export the sizes of tensors";
  return why.empty() ? "" : format("collectives of this PyTorch {} are not recorded: {}", version, why);
}

}  // namespace

const char* observe(const char* version) noexcept {
  static std::once_flag once;
  static std::string problem = "collectives are not recorded: the recorder failed";
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
