// A GPU as a program sees it that plays one: the stand-in for libcupti, and CUDA's initialisation, which loads the
// injection.
#pragma once

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "cupti_builder.h"

namespace rankscope::testing {

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "cupti_actor: %s\n", what);
  std::exit(3);
}
inline void require(bool holds, const char* what) {
  if (!holds) fail(what);
}

struct Gpu {
  bool (*push_bytes)(const void*, std::size_t) = nullptr;
  std::uint64_t (*now)() = nullptr;
  bool (*is_subscribed)() = nullptr;
  std::size_t (*enabled_kinds)() = nullptr;
  bool (*is_enabled)(std::uint32_t kind) = nullptr;
  unsigned (*flushes)() = nullptr;
  bool (*is_set_up)() = nullptr;
  void (*call)(int domain, std::uint32_t number) = nullptr;
  int (*flush)(std::uint32_t) = nullptr;
  void (*hand_over)(const void*, std::size_t) = nullptr;
  void (*hold_flush)(bool) = nullptr;
  bool (*replay)() = nullptr;
  bool (*is_flushing)() = nullptr;
  void (*keep_unfinished)(bool) = nullptr;
  bool (*push_open)(const void*, std::size_t, std::uint64_t) = nullptr;
  bool (*finish)(std::uint64_t open, std::uint64_t end) = nullptr;
  void (*finalize)() = nullptr;
  std::uint32_t version = 0;

  bool push(const ActivityRecord& record) const { return push_bytes(record.bytes().data(), record.bytes().size()); }
  void kernel(std::uint32_t correlation, std::uint64_t begin, std::uint64_t length,
              const char* name = "_Z4gemmPf") const {
    push(make_kernel(version, {begin, begin + length, 0, 1, 7, correlation}, name));
  }
  void launch(std::uint32_t correlation, std::uint64_t begin, std::uint64_t length) const {
    const auto thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
    push(make_call(5, 211, thread, {begin, begin + length, 0, 0, 0, correlation}));
  }
};

inline void initialise_cuda() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  require(path != nullptr, "no CUDA_INJECTION64_PATH");
  void* const library = dlopen(path, RTLD_NOW);
  require(library != nullptr, "the injection does not load");
  const auto initialise = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  require(initialise != nullptr && initialise() == 1, "the injection refuses");
}

inline Gpu find_gpu() {
  const char* const path = std::getenv("RANKSCOPE_CUPTI");
  void* const library = path == nullptr ? nullptr : dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  require(library != nullptr, "the stand-in was not loaded");
  Gpu gpu;
  const auto find = [&](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    require(function != nullptr, name);
  };
  find("standin_push", gpu.push_bytes);
  find("standin_now", gpu.now);
  find("standin_is_subscribed", gpu.is_subscribed);
  find("standin_enabled_kinds", gpu.enabled_kinds);
  find("standin_is_enabled", gpu.is_enabled);
  find("standin_flushes", gpu.flushes);
  find("standin_is_set_up", gpu.is_set_up);
  find("standin_call", gpu.call);
  find("cuptiActivityFlushAll", gpu.flush);
  find("standin_hand_over", gpu.hand_over);
  find("standin_hold_flush", gpu.hold_flush);
  find("standin_replay", gpu.replay);
  find("standin_is_flushing", gpu.is_flushing);
  find("standin_keep_unfinished", gpu.keep_unfinished);
  find("standin_push_open", gpu.push_open);
  find("standin_finish", gpu.finish);
  find("standin_finalize", gpu.finalize);
  std::uint32_t (*version)(std::uint32_t*) = nullptr;
  find("cuptiGetVersion", version);
  version(&gpu.version);
  return gpu;
}

}  // namespace rankscope::testing
