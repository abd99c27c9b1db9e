// Texts that activity records refer to, as a recording shows them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cupti/library.h"
#include "cupti/records.h"

namespace rankscope::inject::cupti {

/// Kept by content: a name's address may be that of another one after its module was unloaded. Of one thread at a time.
class Names {
 public:
  explicit Names(const collectors::cupti::Functions& call) : call_(call) {}
  [[nodiscard]] collectors::cupti::Texts texts();

 private:
  std::string_view kernel(std::uint64_t address);
  std::string_view call_name(collectors::cupti::CallDomain domain, std::uint32_t number);

  static constexpr std::size_t most = 1 << 16;  // a program that makes up names for ever must not fill the memory
  const collectors::cupti::Functions& call_;
  std::unordered_map<std::string, std::string> demangled_;
  std::unordered_map<std::uint64_t, std::string> calls_;
  std::string key_;
};

}  // namespace rankscope::inject::cupti
