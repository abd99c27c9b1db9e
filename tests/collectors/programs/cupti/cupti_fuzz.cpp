#include "cupti_fuzz.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "cupti_builder.h"

namespace rankscope::testing {
namespace {

constexpr int threads = 3, buffers = 60, most_records = 120;
constexpr int own_status = 7;

/// Where a record of a kind has times, and the address of a text; 0: nowhere.
struct Shape {
  std::uint32_t kind;
  std::size_t begin, end, text;
};
constexpr std::array counted{Shape{10, 16, 24, 104}, Shape{1, 16, 24, 0}, Shape{22, 16, 24, 0}, Shape{2, 16, 24, 0},
                             Shape{4, 8, 16, 0},     Shape{5, 8, 16, 0},  Shape{17, 24, 32, 0}, Shape{38, 8, 16, 0},
                             Shape{49, 32, 0, 0},    Shape{50, 56, 0, 0}, Shape{51, 8, 16, 0}};
/// Events have times from 13.0 on.
constexpr Shape event{36, 40, 0, 0}, event_without_time{36, 0, 0, 0};
/// Kinds that leave neither spans nor marks of their own: devices, contexts, streams, external numbers.
constexpr std::array silent{Shape{8, 0, 0, 136}, Shape{9, 0, 0, 0}, Shape{37, 0, 0, 0}, Shape{39, 0, 0, 0}};
constexpr std::array unknown_kinds{0U, 3U, 7U, 40U, 46U, 52U, 61U, 255U, 65'536U, 0xFFFFFFFFU};

class Fuzzer {
 public:
  Fuzzer(const FuzzedGpu& gpu, unsigned seed) : gpu_(gpu), random_(seed) {}

  /// The number of records that must be found again.
  std::uint64_t play() {
    for (int i = 0; i < buffers; ++i) {
      std::vector<std::byte> bytes = buffer();
      gpu_.hand_over(bytes.data(), bytes.size());
    }
    return counted_;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  std::vector<std::byte> buffer() {
    std::vector<std::byte> bytes;
    const std::uint64_t records = below(most_records);
    for (std::uint64_t i = 0; i < records; ++i) append(bytes, record());
    if (below(2) == 0) return bytes;
    // The last one is cut. Four bytes are its kind, without which it is none.
    const auto last = of(counted[below(counted.size())]);
    const std::size_t kept = below(last.size());
    bytes.insert(bytes.end(), last.begin(), last.begin() + static_cast<std::ptrdiff_t>(kept));
    if (kept >= 4) ++counted_;
    return bytes;
  }

  static void append(std::vector<std::byte>& bytes, const std::vector<std::byte>& more) {
    bytes.insert(bytes.end(), more.begin(), more.end());
  }

  std::vector<std::byte> record() {
    const std::uint64_t choice = below(10);
    if (choice == 0) return of(silent[below(silent.size())]);
    if (choice == 2 && gpu_.version < 130000) return of(event_without_time);
    ++counted_;
    if (choice == 2) return of(event);
    if (choice == 1) return of({.kind = unknown_kinds[below(unknown_kinds.size())], .begin = 0, .end = 0, .text = 0});
    return of(counted[below(counted.size())]);
  }

  /// Addresses are CUPTI's: they lead to a text or are null. Threads have numbers. All else is random.
  std::vector<std::byte> of(const Shape& shape) {
    std::vector<std::byte> bytes(activity_bytes(shape.kind, gpu_.version));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random_());
    const auto put = [&bytes](std::size_t offset, auto value) {
      std::memcpy(bytes.data() + offset, &value, sizeof value);
    };
    put(0, shape.kind);
    if (shape.kind == 4 || shape.kind == 5) put(28, static_cast<std::uint32_t>(random_() | 1U));
    if (shape.text != 0) put(shape.text, text());
    if (shape.begin == 0) return bytes;
    const std::uint64_t begin = time();
    put(shape.begin, begin);
    if (shape.end != 0) put(shape.end, below(4) == 0 ? time() : begin + below(1'000'000));
    return bytes;
  }

  std::uint64_t time() {
    constexpr std::array<std::uint64_t, 5> odd{1, 0x7FFFFFFFFFFFFFFF, 0x8000000000000000, ~std::uint64_t{0}, 1U << 30};
    return below(4) == 0 ? odd[below(odd.size())] : gpu_.now() + below(1'000'000) - 500'000;
  }

  /// Mangled, half mangled, nested too deep, no UTF-8, long, empty, none.
  const char* text() {
    switch (below(7)) {
      case 0:
        return nullptr;
      case 1:
        return "";
      case 2:
        return "_Z4gemmPf";
      case 3:
        return texts_.emplace_back("_Z1f" + std::string(5'000, 'P') + "i").c_str();
      case 4:
        return texts_.emplace_back(20'000, 'x').c_str();
      default:
        std::string letters = below(2) == 0 ? "_ZN" : "";
        for (std::uint64_t i = below(60); i > 0; --i) letters += static_cast<char>(1 + below(255));
        return texts_.emplace_back(letters).c_str();
    }
  }

  const FuzzedGpu& gpu_;
  std::mt19937_64 random_;
  std::deque<std::string> texts_;
  std::uint64_t counted_ = 0;
};

}  // namespace

int play_fuzz(const FuzzedGpu& gpu) {
  std::deque<Fuzzer> fuzzers;
  for (unsigned seed = 1; seed <= threads; ++seed) fuzzers.emplace_back(gpu, seed);
  std::atomic<std::uint64_t> counted_ones{0};
  {
    std::vector<std::jthread> players;
    for (Fuzzer& fuzzer : fuzzers) players.emplace_back([&counted_ones, &fuzzer] { counted_ones += fuzzer.play(); });
  }
  std::printf("%llu records\n", static_cast<unsigned long long>(counted_ones.load()));
  return own_status;
}

}  // namespace rankscope::testing
