#include "inject/c10d/verified.h"

#include <algorithm>
#include <array>

namespace rankscope::inject::c10d {
namespace {

struct Verified {
  std::string_view release;  ///< with each of its patch releases
  std::string_view architecture;
  Layout layout;
};
// What was read in the headers and in the dynamic symbols of these versions (docs/pytorch.md, "Collectives").
constexpr std::array verified{
    Verified{"2.4", "x86-64", {.reduce_root = 32}},  Verified{"2.6", "x86-64", {.reduce_root = 32}},
    Verified{"2.8", "x86-64", {.reduce_root = 32}},  Verified{"2.10", "x86-64", {.reduce_root = 32}},
    Verified{"2.11", "x86-64", {.reduce_root = 32}},
};

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Of what follows the "+".
bool is_for_cpu_or_cuda(std::string_view build) {
  return build == "cpu" || (build.starts_with("cu") && is_number(build.substr(2)));
}

/// "2.11.0+cu130" -> "2.11"; empty for builds that are not such a release ("2.11.0a0+5228986c39.nv25.06").
std::string_view release_of(std::string_view version) {
  const std::size_t plus = version.find('+');
  if (plus != std::string_view::npos && !is_for_cpu_or_cuda(version.substr(plus + 1))) return {};
  version = version.substr(0, plus);
  const std::size_t patch = version.rfind('.');
  const std::size_t minor = version.find('.');
  if (minor == patch || !is_number(version.substr(0, minor)) || !is_number(version.substr(patch + 1))) return {};
  return version.substr(0, patch);
}

}  // namespace

std::optional<Layout> layout_of(std::string_view version, std::string_view architecture) {
  const std::string_view release = release_of(version);
  const auto* const known = std::ranges::find_if(
      verified, [&](const Verified& one) { return one.release == release && one.architecture == architecture; });
  return known == verified.end() ? std::nullopt : std::optional{known->layout};
}

}  // namespace rankscope::inject::c10d
