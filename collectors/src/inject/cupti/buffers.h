// The buffers that CUPTI fills: allocated ahead and zeroed, so that its request on the program's thread is short.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace rankscope::inject::cupti {

class Buffers {
 public:
  /// Of one; NVIDIA recommends 1 to 10 MB. A flush returns only buffers without an unfinished record: of a program that
  /// is killed while the GPU is busy, at most one buffer of each thread is lost.
  static constexpr std::size_t bytes = std::size_t{1} << 20;
  static constexpr std::size_t ahead = 8;
  static constexpr std::size_t most = 256;

  /// The limit that RANKSCOPE_CUPTI_BUFFERS sets; without it, `most`.
  [[nodiscard]] static std::size_t wanted();
  /// Maps those that are kept ready. A `limit` outside of 1 to `most` is the nearest of these.
  void prepare(std::size_t limit);
  /// A zeroed one, or null: as many as allowed are being filled.
  [[nodiscard]] std::uint8_t* take();
  /// Zeroes what was used of it and keeps it. One of another profiler, which registered before and whose buffer was
  /// still being filled, is left alone.
  void give_back(std::uint8_t* buffer, std::size_t used);

 private:
  static std::uint8_t* map_one();
  std::uint8_t* map_another();  ///< of those that are allowed; null: it was not possible

  std::mutex mutex_;  // taken once per buffer; what is called while it is held maps memory and never comes back here
  std::array<std::uint8_t*, most> all_{};  // the first mapped_ of them
  std::array<std::uint8_t*, most> free_{};
  std::size_t free_count_ = 0;
  std::size_t mapped_ = 0;
  std::size_t limit_ = most;
};

}  // namespace rankscope::inject::cupti
