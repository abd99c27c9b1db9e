// What is known of an object of another library, by its address: no lock, no allocation, never full.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace rankscope::inject::c10d {

/// Addresses are used again and entries are not taken out, so whoever makes an object must put it, also with 0. Where
/// too many share a place the smallest value goes: the oldest one, if later values are larger. Whoever puts an entry
/// does so before others can look for it. Any number of threads: if they need one place at the same time, an entry may
/// get lost, but no object gets the value of another one.
template <std::size_t Places>
class PointerMap {
  static_assert((Places & (Places - 1)) == 0);

 public:
  /// 0: nothing is known of it.
  [[nodiscard]] std::uint64_t get(const void* key) const {
    for (std::size_t i = 0; i < tries; ++i) {
      const Entry& entry = entries_[(place_of(key) + i) % Places];
      if (entry.key.load(std::memory_order_acquire) == key) return value_of(entry, key);
    }
    return 0;
  }

  void put(const void* key, std::uint64_t value) {
    for (std::size_t i = 0; i < tries; ++i)
      if (try_put(key, value)) return;
  }

  /// Returns what was known of it, and forgets it.
  std::uint64_t take(const void* key) {
    for (std::size_t i = 0; i < tries; ++i) {
      Entry& entry = entries_[(place_of(key) + i) % Places];
      if (entry.key.load(std::memory_order_acquire) != key) continue;
      std::uint64_t value = value_of(entry, key);
      return entry.value.compare_exchange_strong(value, 0) ? value : 0;
    }
    return 0;
  }

 private:
  struct Entry {
    std::atomic<const void*> key{nullptr};
    std::atomic<std::uint64_t> value{0};
  };
  static constexpr std::size_t tries = 8;
  static constexpr char claimed = 0;  ///< its address is the key of an entry that some thread is writing

  static std::uint64_t worth(const Entry& entry) { return entry.value.load(std::memory_order_relaxed); }
  static std::size_t place_of(const void* key) {
    return (reinterpret_cast<std::uintptr_t>(key) >> 4) * std::uint64_t{0x9E3779B97F4A7C15} >> 32;
  }
  /// The key is read again: another thread may have claimed the entry before the value was read.
  static std::uint64_t value_of(const Entry& entry, const void* key) {
    const std::uint64_t value = entry.value.load(std::memory_order_acquire);
    return entry.key.load(std::memory_order_relaxed) == key ? value : 0;
  }

  struct Choice {
    Entry* entry = nullptr;
    const void* held = nullptr;
  };
  /// The entry of this key, or else the one that is worth least; none if all of them are being written.
  Choice choose(const void* key) {
    Choice chosen;
    for (std::size_t i = 0; i < tries; ++i) {
      Entry& entry = entries_[(place_of(key) + i) % Places];
      const void* const held = entry.key.load(std::memory_order_acquire);
      if (held == key) return {&entry, held};
      if (held == &claimed) continue;
      if (chosen.entry == nullptr || worth(entry) < worth(*chosen.entry)) chosen = {&entry, held};
    }
    return chosen;
  }

  /// False if another thread was faster.
  bool try_put(const void* key, std::uint64_t value) {
    Choice chosen = choose(key);
    if (chosen.entry == nullptr) return false;
    if (chosen.held != key && value == 0) return true;  // what is not there is not known
    // Others may be looking for what is put a second time.
    if (chosen.held == key && worth(*chosen.entry) == value) return true;
    if (!chosen.entry->key.compare_exchange_strong(chosen.held, &claimed)) return false;
    chosen.entry->value.store(value, std::memory_order_release);
    chosen.entry->key.store(key, std::memory_order_release);
    return true;
  }

  std::array<Entry, Places> entries_{};
};

}  // namespace rankscope::inject::c10d
