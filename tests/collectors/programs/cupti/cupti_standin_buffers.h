// The buffers of the client of the stand-in of libcupti, as CUPTI fills them and hands them back.
#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>

namespace rankscope::testing {

/// CUPTI calls its client while it holds its own locks: a client that calls back hangs. Here it aborts.
class InCallback {
 public:
  InCallback() { is_inside() = true; }
  InCallback(const InCallback&) = delete;
  InCallback& operator=(const InCallback&) = delete;
  ~InCallback() { is_inside() = false; }
  static void refuse() {
    if (is_inside()) std::abort();
  }

 private:
  static bool& is_inside() {
    static thread_local bool inside = false;
    return inside;
  }
};

/// Whoever is a client has promised zeroed buffers. Looks at one byte of so many.
inline void require_zeroed(const std::uint8_t* buffer, std::size_t size, std::size_t step) {
  for (std::size_t i = 0; i < size; i += step)
    if (buffer[i] != 0) std::abort();
}

class StandInBuffers {
 public:
  using Request = void (*)(std::uint8_t**, std::size_t*, std::size_t*);
  using Complete = void (*)(void*, std::uint32_t, std::uint8_t*, std::size_t, std::size_t);
  struct Behaviour {
    bool crashes_without = false;  ///< a buffer, as before 12.9
    bool keeps = false;            ///< full ones are never handed back
  };

  void register_client(Request request, Complete complete) { request_ = request, complete_ = complete; }
  /// Each thread has a buffer of its own from now on; else all share one.
  void set_per_thread(bool per_thread) { per_thread_ = per_thread; }
  /// Where a record of so many bytes goes; null: it is dropped. `open`: a number of a record that has no end yet, or 0.
  std::uint8_t* place_for(std::size_t bytes, std::uint64_t open, const Behaviour& behaviour) {
    Filling& own = fillings_[per_thread_ ? syscall(SYS_gettid) : 0];
    if (own.memory != nullptr && own.used + bytes > own.size) {
      if (behaviour.keeps)
        own = {};
      else
        hand_back(own);
    }
    if (own.memory == nullptr) ask_for_one(own, behaviour);
    if (own.memory == nullptr || own.used + bytes > own.size) return nullptr;
    if (open != 0) own.open[open] = own.used;
    own.used += bytes;
    return own.memory + own.used - bytes;
  }
  /// The kernel of an open record has ended. False: its buffer was handed back without an end, and will not be again.
  bool finish(std::uint64_t open, std::uint64_t end) {
    for (auto& [thread, one] : fillings_) {
      const auto found = one.open.find(open);
      if (found == one.open.end()) continue;
      constexpr std::size_t end_of_kernel = 24;
      std::memcpy(one.memory + found->second + end_of_kernel, &end, sizeof end);
      one.open.erase(found);
      return true;
    }
    return false;
  }
  /// What is full or has no open record; `all`: whatever it has.
  void flush(bool all) {
    for (auto& [thread, one] : fillings_)
      if (all || one.open.empty()) hand_back(one);
  }
  /// Nothing is handed back any more.
  void forget() { fillings_.clear(); }

 private:
  struct Filling {
    std::uint8_t* memory = nullptr;
    std::size_t size = 0, used = 0;
    std::map<std::uint64_t, std::size_t> open{};  ///< where they begin
  };
  void ask_for_one(Filling& own, const Behaviour& behaviour) {
    std::size_t most = 0;
    own = {};
    {
      const InCallback inside;
      request_(&own.memory, &own.size, &most);
    }
    if (own.memory == nullptr && behaviour.crashes_without) std::abort();
    if (own.memory != nullptr) require_zeroed(own.memory, own.size, 512);
  }
  void hand_back(Filling& own) {
    if (own.memory == nullptr) return;
    const Filling full = own;
    own = {};
    const InCallback inside;
    complete_(nullptr, 0, full.memory, full.size, full.used);
  }

  Request request_ = nullptr;
  Complete complete_ = nullptr;
  bool per_thread_ = false;
  std::map<long, Filling> fillings_;
};

}  // namespace rankscope::testing
