#include "environment.h"

#include <filesystem>

#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

std::string value_of(const Lookup& lookup, const char* name) {
  const char* const value = lookup(name);
  return value == nullptr ? std::string{} : std::string{value};
}

/// A recorder around this one (rankscope in rankscope) is replaced.
bool is_foreign(const std::string& path) {
  return !path.empty() && std::filesystem::path{path}.filename() != inject_library_name;
}

void hook(CommandEnvironment& environment, const Lookup& lookup, const char* name, const std::string& library,
          std::string_view lost) {
  const std::string theirs = value_of(lookup, name);
  if (!is_foreign(theirs)) return environment.variables.emplace_back(name, library), void();
  environment.warnings.push_back(
      format("{} names {}, which is kept: {} are not recorded; unset it to record them", name, theirs, lost));
}

std::string preload_list(const std::string& theirs, const std::string& library) {
  std::string list;
  std::string_view left = theirs;
  while (!left.empty()) {
    const std::string_view item = left.substr(0, left.find_first_of(": "));
    left.remove_prefix(std::min(left.size(), item.size() + 1));
    if (item.empty() || !is_foreign(std::string{item})) continue;
    list += std::string{item} + ":";
  }
  return list + library;
}

}  // namespace

CommandEnvironment command_environment(const Lookup& lookup, const InjectSettings& settings, const std::string& library,
                                       Preload preload) {
  CommandEnvironment environment;
  environment.variables = to_variables(settings);
  environment.variables.emplace_back(variable::library, library);
  if (settings.collect.has(Source::nvtx)) {
    hook(environment, lookup, variable::nvtx_injection, library, "NVTX ranges and NCCL's calls");
  }
  hook(environment, lookup, variable::cuda_injection, library, "CUDA's activities");
  if (settings.collect.has(Source::nccl))
    hook(environment, lookup, variable::nccl_plugin, library, "NCCL's collectives, sends and receives");
  if (preload == Preload::yes) {
    environment.variables.emplace_back(variable::preload, preload_list(value_of(lookup, variable::preload), library));
  }
  return environment;
}

}  // namespace rankscope::collectors
