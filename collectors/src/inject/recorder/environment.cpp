#include "inject/recorder/environment.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

namespace rankscope::inject {
namespace {

/// Path of this library as it was loaded.
std::string own_path() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&own_path), &info) == 0 || info.dli_fname == nullptr) return {};
  return info.dli_fname;
}

std::string name_of(const std::string& library) { return library.substr(library.rfind('/') + 1); }

/// Takes our library out of LD_PRELOAD and keeps the others.
void leave_preload(const std::string& library) {
  const char* const list = std::getenv(collectors::variable::preload);
  if (list == nullptr) return;
  std::string rest;
  std::string_view left = list;
  while (!left.empty()) {
    const std::string_view item = left.substr(0, left.find_first_of(": "));
    left.remove_prefix(std::min(left.size(), item.size() + 1));
    if (item.empty() || item == library) continue;
    rest += (rest.empty() ? "" : ":") + std::string{item};
  }
  if (rest.empty()) {
    unsetenv(collectors::variable::preload);
  } else {
    setenv(collectors::variable::preload, rest.c_str(), 1);
  }
}

void clear_environment() {
  const std::string library = own_path();
  leave_preload(library);
  for (const char* const name : {collectors::variable::nvtx_injection, collectors::variable::cuda_injection,
                                 collectors::variable::nccl_plugin}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && (library == value || name_of(library) == value)) unsetenv(name);
  }
  for (const char* const name : {collectors::variable::segments, collectors::variable::library}) unsetenv(name);
}

std::string command_line() {
  std::array<char, 4096> buffer{};
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  const ssize_t size = read(file, buffer.data(), buffer.size());
  close(file);
  std::string text(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  std::ranges::replace(text, '\0', ' ');
  return text;
}

}  // namespace

bool owns_recording(const collectors::InjectSettings& settings) {
  if (settings.follow) return true;
  const std::string pid = std::to_string(getpid());
  const char* const owner = std::getenv(collectors::variable::owner);
  if (owner == nullptr) {
    setenv(collectors::variable::owner, pid.c_str(), 1);
    return true;
  }
  if (pid == owner) return true;  // the same process after exec
  clear_environment();
  return false;
}

void complete_environment(const collectors::InjectSettings& settings) {
  const std::string library = own_path();
  if (library.empty() || library.front() != '/') return;
  if (settings.collect.has(collectors::Source::nvtx)) setenv(collectors::variable::nvtx_injection, library.c_str(), 0);
  setenv(collectors::variable::cuda_injection, library.c_str(), 0);
  if (settings.collect.has(collectors::Source::nccl)) setenv(collectors::variable::nccl_plugin, library.c_str(), 0);
  setenv(collectors::variable::library, library.c_str(), 0);
}

void name_plugin_without_path() {
  const std::string library = own_path();
  const char* const value = std::getenv(collectors::variable::nccl_plugin);
  if (value != nullptr && library == value) setenv(collectors::variable::nccl_plugin, name_of(library).c_str(), 1);
}

collectors::RankEnvironment own_rank(const collectors::InjectSettings& settings) {
  return collectors::find_rank([](const char* name) { return std::getenv(name); },
                               {.rank_env = settings.rank_env, .command_line = command_line()});
}

}  // namespace rankscope::inject
