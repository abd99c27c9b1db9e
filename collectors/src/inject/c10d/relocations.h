// Puts functions of ours in front of exported functions of a loaded library, for the calls that the library makes by
// symbol: its vtables and its jump table, as the loader itself would have filled them. Nothing is known of the
// library but its ELF tables.
#pragma once

#include <span>
#include <string>

namespace rankscope::inject::c10d {

/// One function of the library, by its mangled name.
struct Hook {
  enum class Need : unsigned char { required, optional };
  const char* symbol;
  void* ours;   ///< of the same signature
  void** next;  ///< set to the library's own before `ours` can be called
  Need need = Need::required;
};

/// All or nothing. Empty: every required function is ours from now on; else why not.
[[nodiscard]] std::string stand_in_front(const char* library, std::span<const Hook> hooks);

/// An exported function of the library, or null.
[[nodiscard]] void* exported_by(const char* library, const char* symbol);

}  // namespace rankscope::inject::c10d
