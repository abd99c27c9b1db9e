// A second profiler in a process: it does not subscribe, and registers its buffers over those of whoever came first, as
// torch.profiler does in some versions.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cupti_builder.h"

namespace rankscope::testing {

struct ForeignProfiler {
  static inline std::array<std::uint8_t, 1 << 16> buffer{};
  static inline std::atomic<unsigned> buffers = 0;  ///< that were filled for it

  static void request(std::uint8_t** memory, std::size_t* size, std::size_t* most) {
    *memory = buffer.data(), *size = buffer.size(), *most = 0;
  }
  static void complete(void*, std::uint32_t, std::uint8_t* memory, std::size_t, std::size_t valid) {
    std::fill_n(memory, valid, std::uint8_t{0});
    ++buffers;
  }
  /// It was there first, and a buffer of its own is being filled.
  static void begin(void* libcupti) {
    take_buffers(libcupti);
    constexpr std::uint32_t kernels = 10;
    reinterpret_cast<int (*)(std::uint32_t)>(dlsym(libcupti, "cuptiActivityEnable"))(kernels);
    const ActivityRecord kernel = make_kernel(130001, {1'000, 2'000, 0, 1, 7, 1}, nullptr);
    const auto push = reinterpret_cast<bool (*)(const void*, std::size_t)>(dlsym(libcupti, "standin_push"));
    push(kernel.bytes().data(), kernel.bytes().size());
  }
  /// All that it can take: the buffers, those of each thread, and the kinds that were asked for.
  static void take_everything(void* libcupti) {
    take_buffers(libcupti);
    std::uint8_t no = 0;
    std::size_t size = sizeof no;
    using Set = int (*)(int, std::size_t*, void*);
    reinterpret_cast<Set>(dlsym(libcupti, "cuptiActivitySetAttribute"))(9, &size, &no);
    const auto disable = reinterpret_cast<int (*)(std::uint32_t)>(dlsym(libcupti, "cuptiActivityDisable"));
    for (std::uint32_t kind = 1; kind < 60; ++kind) disable(kind);
  }
  static void take_buffers(void* libcupti) {
    using Register = int (*)(decltype(&request), decltype(&complete));
    reinterpret_cast<Register>(dlsym(libcupti, "cuptiActivityRegisterCallbacks"))(request, complete);
  }
};

}  // namespace rankscope::testing
