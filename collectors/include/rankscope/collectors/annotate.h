// The annotation API: what a program says about itself while it is recorded.
//
// Header-only and free of link dependencies. The recorder (librankscope_inject.so) is found at run time; in a program
// that is not being recorded every call is one predictable branch. Strings are copied during the call. All calls are
// safe from any thread; push and pop nest per thread. Nothing here blocks, allocates (after a name's first use) or
// fails: events that cannot be stored are counted by the recorder.
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "rankscope/collectors/annotate_table.h"

namespace rankscope::annotate {

/// What a span is, for the time split (metrics.md 0, "CPU rank"). Values are stored in recordings: append only.
enum class Kind : std::uint8_t {
  user = 0,       ///< any annotation; not classified by itself
  step = 1,       ///< one training step; attribute "index"
  data = 2,       ///< the main thread waits for its loader
  forward = 3,    ///< compute
  backward = 4,   ///< compute
  optimizer = 5,  ///< compute
  op = 6,         ///< framework operator: compute
  wait = 7,       ///< the host is blocked until a collective has finished: communication
  sync = 8,       ///< the host is blocked in a barrier, join or device synchronization that is no collective
  loader = 9,     ///< work of a loader worker thread; no part of any time split
  checkpoint = 10,
};

namespace detail {
inline const rankscope_api_v1* find_api() {
  using Entry = const rankscope_api_v1* (*)();
  auto entry = reinterpret_cast<Entry>(dlsym(RTLD_DEFAULT, "rankscope_api"));
  if (entry == nullptr) {
    if (const char* path = std::getenv("RANKSCOPE_INJECT_LIB")) {
      if (void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL))
        entry = reinterpret_cast<Entry>(dlsym(library, "rankscope_api"));
    }
  }
  const rankscope_api_v1* api = entry != nullptr ? entry() : nullptr;
  return api != nullptr && api->version >= 1 ? api : nullptr;
}
/// The recorder's table, or null where the process is not recorded.
inline const rankscope_api_v1* api() {
  static const rankscope_api_v1* const found = find_api();
  return found;
}
}  // namespace detail

/// The table if it has what was appended after the first version, or null.
inline const rankscope_api_v1* newer_api() {
  const auto* const table = detail::api();
  return table != nullptr && table->size >= sizeof(rankscope_api_v1) ? table : nullptr;
}

/// True if the user asked for this detail.
inline bool wants(Detail detail) {
  const auto* const api = newer_api();
  return api != nullptr && (api->details() & static_cast<std::uint32_t>(detail)) != 0;
}

/// True while a recorder is attached and its window is open.
inline bool recording() { return detail::api() != nullptr && detail::api()->is_recording() != 0; }

/// A span of the calling thread, from construction to destruction.
class Span {
 public:
  Span(Kind kind, std::string_view name) {
    if (const auto* api = detail::api())
      api->push(static_cast<std::uint8_t>(kind), name.data(), static_cast<std::uint32_t>(name.size()));
  }
  ~Span() {
    if (const auto* api = detail::api()) api->pop();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  Span& with(const char* key, std::int64_t value) {
    if (const auto* api = detail::api()) api->attribute_int(key, value);
    return *this;
  }
  Span& with_json(const char* key, std::string_view json) {
    if (const auto* api = newer_api()) api->attribute_json(key, json.data(), static_cast<std::uint32_t>(json.size()));
    return *this;
  }
  Span& with(const char* key, std::string_view value) {
    if (const auto* api = detail::api())
      api->attribute_text(key, value.data(), static_cast<std::uint32_t>(value.size()));
    return *this;
  }
};

inline void mark(std::string_view name) {
  if (const auto* api = detail::api()) api->mark(name.data(), static_cast<std::uint32_t>(name.size()));
}
/// Describes the latest mark of this thread.
inline void describe_mark(const char* key, std::int64_t value) {
  if (const auto* api = newer_api()) api->mark_attribute_int(key, value);
}
inline void counter(const char* name, double value) {
  if (const auto* api = detail::api()) api->counter(name, value);
}
inline void collective_enqueued(const rankscope_collective_v1& collective) {
  if (const auto* api = detail::api()) api->collective_enqueued(&collective);
}
inline void collective_started(std::uint64_t uid) {
  if (const auto* api = detail::api()) api->collective_started(uid);
}
inline void collective_finished(std::uint64_t uid) {
  if (const auto* api = detail::api()) api->collective_finished(uid);
}
inline void name_thread(const char* name) {
  if (const auto* api = detail::api()) api->name_thread(name);
}
inline void metadata(const char* key, const char* value) {
  if (const auto* api = detail::api()) api->metadata(key, value);
}

}  // namespace rankscope::annotate
