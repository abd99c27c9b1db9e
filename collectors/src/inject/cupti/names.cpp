#include "inject/cupti/names.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "rankscope/core/format.h"

namespace rankscope::inject::cupti {
namespace {

using collectors::cupti::CallDomain;
namespace result = collectors::cupti::result;

std::string_view text_at(std::uint64_t address) {
  const auto* const text = reinterpret_cast<const char*>(static_cast<std::uintptr_t>(address));
  return text == nullptr ? std::string_view{""} : std::string_view{text};
}

std::string demangle(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text{abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status),
                                                    std::free};
  return status == 0 && text ? std::string{text.get()} : name;
}

/// "cudaLaunchKernel_v7000" -> "cudaLaunchKernel": the version is the profiler's, not the program's.
std::string without_version(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  const bool versioned =
      at != name.npos && at + 2 < name.size() && name.find_first_not_of("0123456789", at + 2) == name.npos;
  return std::string{versioned ? name.substr(0, at) : name};
}

}  // namespace

collectors::cupti::Texts Names::texts() {
  return {.who = this,
          .kernel = [](void* who, std::uint64_t address) { return static_cast<Names*>(who)->kernel(address); },
          .text = [](void*, std::uint64_t address) { return text_at(address); },
          .call = [](void* who, CallDomain domain,
                     std::uint32_t number) { return static_cast<Names*>(who)->call_name(domain, number); }};
}

std::string_view Names::kernel(std::uint64_t address) {
  key_.assign(text_at(address));
  if (const auto known = demangled_.find(key_); known != demangled_.end()) return known->second;
  if (demangled_.size() >= most) demangled_.clear();
  return demangled_.emplace(key_, demangle(key_)).first->second;
}

std::string_view Names::call_name(CallDomain domain, std::uint32_t number) {
  const auto [found, added] =
      calls_.try_emplace(std::uint64_t{number} | std::uint64_t{static_cast<std::uint32_t>(domain)} << 32);
  if (!added) return found->second;
  const char* name = nullptr;
  const int status = call_.callback_name(static_cast<int>(domain), number, &name);
  found->second = status == result::success && name != nullptr
                      ? without_version(name)
                      : format("{} call {}", domain == CallDomain::driver ? "driver" : "runtime", number);
  return found->second;
}

}  // namespace rankscope::inject::cupti
