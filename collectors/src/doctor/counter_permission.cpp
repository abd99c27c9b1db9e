#include "doctor/counter_permission.h"

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

#include "pm/cupti_pm.h"
#include "pm/metrics.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;

constexpr unsigned cap_sys_admin = 21, cap_perfmon = 38;  // linux/capability.h
constexpr int first_with_perfmon = 565;                   // driver

/// What stands behind a key at the begin of a line; nothing without.
std::optional<std::string> value_in(const fs::path& path, std::string_view key) {
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const auto begin = line.find_first_not_of(": \t", key.size());
    return begin == std::string::npos ? std::string{} : line.substr(begin);
  }
  return std::nullopt;
}

std::uint64_t capabilities(const fs::path& root) {
  const std::string text = value_in(root / "proc/self/status", "CapEff").value_or("");
  return hex_number_from(text).value_or(0);
}

int driver_of(const fs::path& root) {
  std::ifstream file{root / "proc/driver/nvidia/version"};
  for (std::string word; file >> word;)
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos)
      return leading_number<int>(word).value_or(0);
  return 0;
}

/// "by CAP_SYS_ADMIN", what lets this process read them though others may not; empty if nothing does.
std::string privilege(const fs::path& root) {
  const std::uint64_t bits = capabilities(root);
  if ((bits >> cap_sys_admin & 1U) != 0) return "CAP_SYS_ADMIN";
  if ((bits >> cap_perfmon & 1U) != 0 && driver_of(root) >= first_with_perfmon) return "CAP_PERFMON";
  return {};
}

/// Why CUPTI could not sample on any GPU; empty if nothing is in the way. Needs no GPU: CUPTI knows the chips.
std::string sampling_problem(const std::string& library) {
  const cupti::PmLibrary sampling = cupti::find_pm_functions(library);
  if (!sampling.problem.empty()) return sampling.problem;
  const int status = PmHost{sampling.call, "GH100", {}}.status();
  return status == cupti::result::not_initialized ? pm_refusal(sampling.call, status, "describing a chip") : "";
}

}  // namespace

GpuState counter_state(const fs::path& root, const cupti::Library& library) {
  GpuState state{false, "GPU counters", "no NVIDIA kernel module", "only --pm-sampling needs them"};
  const auto admin_only = value_in(root / "proc/driver/nvidia/params", "RmProfilingAdminOnly");
  if (!admin_only) return state;
  const std::string own = privilege(root);
  state.good = *admin_only == "0" || !own.empty();
  state.found = *admin_only == "0" ? "allowed for every user"
                : state.good       ? "only for the administrator (RmProfilingAdminOnly), and here by " + own
                                   : "only for the administrator (RmProfilingAdminOnly)";
  state.advice =
      "only --pm-sampling needs them: an administrator can set options nvidia NVreg_RestrictProfilingToAdminUsers=0 in "
      "/etc/modprobe.d and reload the driver, or give the job CAP_SYS_ADMIN (driver R565 and later: CAP_PERFMON; in a "
      "container: --cap-add=SYS_ADMIN)";
  if (!state.good || !library.problem.empty()) return state;
  const std::string problem = sampling_problem(library.path);
  if (problem.empty()) return state;
  return {false, state.what, state.found + "; " + problem, "only --pm-sampling needs it"};
}

}  // namespace rankscope::collectors
