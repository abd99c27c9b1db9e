#include "environment.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <initializer_list>

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

/// A variable that names the one library which is called, and the sources that come in through it.
struct Hook {
  const char* name;
  std::string_view what;
  std::initializer_list<Source> sources;
};

void set_hook(CommandEnvironment& environment, const Lookup& lookup, const Hook& hook, const std::string& library) {
  const std::string theirs = value_of(lookup, hook.name);
  if (!is_foreign(theirs)) return environment.variables.emplace_back(hook.name, library), void();
  environment.warnings.push_back(
      format("{} names {}, which is kept: {} are not recorded; unset it to record them", hook.name, theirs, hook.what));
  for (const Source source : hook.sources) environment.lost.add(source);
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

constexpr std::array<std::string_view, 2> container_prefixes{"APPTAINERENV_", "SINGULARITYENV_"};

/// What has their prefix is set inside a container without it, over what the image and the host say.
void hand_into_containers(CommandEnvironment& environment, const Lookup& lookup, const std::string& library) {
  const auto variables = environment.variables;
  for (const std::string_view one : container_prefixes) {
    const std::string prefix{one};
    for (const auto& [name, value] : variables) {
      const std::string theirs = value_of(lookup, (prefix + name).c_str());
      if (name == variable::preload) {
        environment.variables.emplace_back(prefix + name, theirs.empty() ? value : preload_list(theirs, library));
      } else if (value != library || !is_foreign(theirs)) {
        environment.variables.emplace_back(prefix + name, value);
      }
    }
  }
}

}  // namespace

CommandEnvironment command_environment(const Lookup& lookup, const InjectSettings& settings, const std::string& library,
                                       Preload preload) {
  CommandEnvironment environment;
  environment.variables = to_variables(settings);
  environment.variables.emplace_back(variable::library, library);
  if (settings.collect.has(Source::nvtx)) {
    set_hook(environment, lookup, {variable::nvtx_injection, "NVTX ranges and NCCL's calls", {Source::nvtx}}, library);
  }
  set_hook(environment, lookup, {variable::cuda_injection, "CUDA's activities", {Source::cupti, Source::nvml}},
           library);
  if (settings.collect.has(Source::nccl))
    set_hook(environment, lookup, {variable::nccl_plugin, "NCCL's collectives, sends and receives", {Source::nccl}},
             library);
  if (preload == Preload::yes) {
    environment.variables.emplace_back(variable::preload, preload_list(value_of(lookup, variable::preload), library));
  }
  if (settings.follow) hand_into_containers(environment, lookup, library);
  return environment;
}

void spare_containers(CommandEnvironment& environment, const std::string& library) {
  for (auto& [name, value] : environment.variables) {
    const bool is_preload = std::ranges::any_of(container_prefixes, [&, &name = name](std::string_view prefix) {
      return name == std::string{prefix} + variable::preload;
    });
    if (!is_preload || !value.ends_with(library)) continue;
    value.resize(value.size() - library.size());
    if (value.ends_with(':')) value.pop_back();
  }
}

}  // namespace rankscope::collectors
