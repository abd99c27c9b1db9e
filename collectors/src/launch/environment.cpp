#include "environment.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "pytorch.h"
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
      format("{} is already set to {} and was not changed, so {} are not recorded; unset it to record them", hook.name,
             theirs, hook.what));
  for (const Source source : hook.sources) environment.lost.add(source);
}

/// A list for LD_PRELOAD without recorders.
std::string without_us(const std::string& theirs, const std::string& library) {
  std::string list;
  std::string_view left = theirs;
  while (!left.empty()) {
    const std::string_view item = left.substr(0, left.find_first_of(": "));
    left.remove_prefix(std::min(left.size(), item.size() + 1));
    if (item.empty() || item == library || !is_foreign(std::string{item})) continue;
    list += (list.empty() ? "" : ":") + std::string{item};
  }
  return list;
}

std::string preload_list(const std::string& theirs, const std::string& library) {
  const std::string others = without_us(theirs, library);
  return others.empty() ? library : others + ":" + library;
}

/// What the recorder puts into processes, by the names that variables have for it.
struct Put {
  const std::string& library;
  const std::filesystem::path& pytorch_hook;
  bool follow = true;  ///< into other processes, too
};

/// Value of a variable in a container for which the user set `theirs`; nothing: that is kept. Where the library is
/// preloaded and the C library of the image is older than it needs, no program starts; what loads it by another
/// variable goes on without it.
std::optional<std::string> value_inside(const std::string& name, const std::string& value, const std::string& theirs,
                                        const Put& put) {
  if (name == variable::preload) return without_us(theirs.empty() ? value : theirs, put.library);
  if (name == python_path) return theirs.empty() ? value : with_hook(put.pytorch_hook, theirs);
  if (value == put.library && is_foreign(theirs)) return std::nullopt;
  return value;
}

/// With --no-follow only what keeps the host's LD_PRELOAD out.
void hand_into_containers(CommandEnvironment& environment, const Lookup& lookup, const Put& put) {
  const auto variables = environment.variables;
  for (const std::string_view prefix : container_prefixes) {
    for (const auto& [name, value] : variables) {
      if (!put.follow && name != variable::preload) continue;
      const std::string inside = std::string{prefix} + name;
      if (auto text = value_inside(name, value, value_of(lookup, inside.c_str()), put))
        environment.variables.emplace_back(inside, std::move(*text));
    }
  }
}

}  // namespace

CommandEnvironment command_environment(const Lookup& lookup, const InjectSettings& settings, const std::string& library,
                                       Preload preload, const std::filesystem::path& pytorch_hook) {
  CommandEnvironment environment;
  environment.variables = to_variables(settings);
  environment.variables.emplace_back(variable::library, library);
  if (settings.collect.has(Source::nvtx)) {
    set_hook(environment, lookup, {variable::nvtx_injection, "NVTX ranges and NCCL's calls", {Source::nvtx}}, library);
  }
  set_hook(environment, lookup,
           {variable::cuda_injection, "CUDA's activities", {Source::cupti, Source::nvml, Source::pm}}, library);
  if (settings.collect.has(Source::nccl))
    set_hook(environment, lookup, {variable::nccl_plugin, "NCCL's collectives, sends and receives", {Source::nccl}},
             library);
  if (preload == Preload::yes) {
    environment.variables.emplace_back(variable::preload, preload_list(value_of(lookup, variable::preload), library));
  }
  if (!pytorch_hook.empty()) add_pytorch(environment, lookup, pytorch_hook, library);
  hand_into_containers(environment, lookup, {library, pytorch_hook, settings.follow});
  return environment;
}

}  // namespace rankscope::collectors
