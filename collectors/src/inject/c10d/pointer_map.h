// What is known of an object of another library, by its address: no lock, no allocation, never full.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rankscope::inject::c10d {

/// Addresses are used again and entries are not taken out, so whoever makes an object must put it, also with 0. Where
/// too many share a place the smallest value goes. Whoever puts an entry does so before others can look for it.
template <std::size_t Places>
class PointerMap {
  static_assert((Places & (Places - 1)) == 0);

 public:
  /// 0: nothing is known of it.
  [[nodiscard]] std::uint64_t get(const void* key) const {
    for (std::size_t i = 0; i < tries; ++i) {
      const Entry& entry = entries_[(place_of(key) + i) % Places];
      if (entry.key.load(std::memory_order_acquire) == key) return entry.value.load(std::memory_order_relaxed);
    }
    return 0;
  }

  void put(const void* key, std::uint64_t value) {
    Entry* chosen = nullptr;
    for (std::size_t i = 0; i < tries; ++i) {
      Entry& entry = entries_[(place_of(key) + i) % Places];
      const void* held = entry.key.load(std::memory_order_acquire);
      if (held == key) return entry.value.store(value, std::memory_order_relaxed);
      if (chosen == nullptr || worth(entry) < worth(*chosen)) chosen = &entry;
    }
    if (value == 0) return;  // what is not there is not known
    chosen->value.store(0, std::memory_order_relaxed);
    chosen->key.store(key, std::memory_order_release);
    chosen->value.store(value, std::memory_order_release);
  }

  /// Returns what was known of it, and forgets it.
  std::uint64_t take(const void* key) {
    for (std::size_t i = 0; i < tries; ++i) {
      Entry& entry = entries_[(place_of(key) + i) % Places];
      if (entry.key.load(std::memory_order_acquire) == key) return entry.value.exchange(0);
    }
    return 0;
  }

 private:
  struct Entry {
    std::atomic<const void*> key{nullptr};
    std::atomic<std::uint64_t> value{0};
  };
  static constexpr std::size_t tries = 8;

  static std::uint64_t worth(const Entry& entry) { return entry.value.load(std::memory_order_relaxed); }
  static std::size_t place_of(const void* key) {
    return (reinterpret_cast<std::uintptr_t>(key) >> 4) * std::uint64_t{0x9E3779B97F4A7C15} >> 32;
  }

  std::array<Entry, Places> entries_{};
};

}  // namespace rankscope::inject::c10d
