// Activity records of CUPTI -> what a recording stores. Nothing here calls CUPTI: a record is bytes, and the texts that
// it points to are asked for. Layouts are declared here as offsets: NVIDIA's headers are not needed.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "rankscope/core/model/span.h"
#include "rankscope/core/recording/thread_writer.h"

namespace rankscope::collectors::cupti {

/// Numbers of cuptiGetVersion: 22 is CUDA 12.4, 26 is 12.8, 28 is 12.9 U1; from 13.0 on 13xxyy.
namespace version {
inline constexpr std::uint32_t v12_4 = 22;
inline constexpr std::uint32_t v12_8 = 26;
inline constexpr std::uint32_t v12_9 = 27;
inline constexpr std::uint32_t v13_0 = 130000;
inline constexpr std::uint32_t v13_0_update_1 = 130001;
inline constexpr std::uint32_t v13_2 = 130200;
}  // namespace version

/// CUpti_ActivityKind, those that are recorded.
enum class Kind : std::uint32_t {
  memcpy = 1,
  memset = 2,
  driver = 4,
  runtime = 5,
  device = 8,
  context = 9,
  concurrent_kernel = 10,
  overhead = 17,
  memcpy_peer = 22,
  cuda_event = 36,
  stream = 37,
  synchronization = 38,
  external_correlation = 39,
  memory = 49,
  memory_pool = 50,
  graph_trace = 51,
};

enum class CallDomain : std::uint32_t { driver = 1, runtime = 2 };

/// Who knows the texts that records refer to. What they return is valid until the next record is decoded.
struct Texts {
  void* who = nullptr;
  std::string_view (*kernel)(void* who, std::uint64_t address) = nullptr;  ///< of a name as C++ wrote it, demangled
  std::string_view (*text)(void* who, std::uint64_t address) = nullptr;
  std::string_view (*call)(void* who, CallDomain domain, std::uint32_t number) = nullptr;
};

/// Which device a context is on: some records name the context only. Any number of threads at a time; what does not fit
/// is not known.
class Contexts {
 public:
  void learn(std::uint32_t context, std::uint32_t device);
  /// 0 if it is not known.
  [[nodiscard]] std::uint32_t device_of(std::uint32_t context) const;

 private:
  std::array<std::atomic<std::uint64_t>, 64> known_{};  // context in the low half, device + 1 in the high one
};

/// What a record says. Texts are valid until the next one is decoded.
struct Decoded {
  enum class Shape : std::uint8_t {
    activity,
    call,
    moment,
    device,
    left_out,  ///< of no use, or known already
    unknown,   ///< a kind that is not known, or shorter than it must be
  };
  Shape shape = Shape::unknown;
  SpanKind kind = SpanKind::user;
  recording::MomentPlace place = recording::MomentPlace::stream;
  std::string_view name{};
  recording::ActivityFields activity{};
  recording::CallFields call{};
  std::uint32_t ordinal = 0;  ///< of a device
  std::string_view uuid{};
  [[nodiscard]] std::span<const recording::Item> items() const { return {all_items.data(), item_count}; }

  std::array<recording::Item, recording::most_items> all_items{};
  std::size_t item_count = 0;
};

/// Decodes the records of one library, whose version tells how long they are.
class RecordDecoder {
 public:
  RecordDecoder(std::uint32_t cupti_version, std::int64_t process, Texts texts, Contexts& contexts)
      : version_(cupti_version), process_(process), texts_(texts), contexts_(contexts) {}
  RecordDecoder(const RecordDecoder&) = delete;
  RecordDecoder& operator=(const RecordDecoder&) = delete;

  /// `record` may be longer than the record is: CUPTI does not say where one ends.
  const Decoded& decode(std::span<const std::byte> record);

 private:
  template <class T>
  [[nodiscard]] T at(std::size_t offset) const {
    T value{};
    std::memcpy(&value, record_.data() + offset, sizeof value);
    return value;
  }
  [[nodiscard]] bool has(std::size_t bytes) const { return record_.size() >= bytes; }
  void kernel();
  void copy();
  void copy_between_devices();
  void set();
  void call(CallDomain domain);
  void device();
  void overhead();
  void event();
  void synchronization();
  void memory();
  void memory_pool();
  void graph();
  void context();
  void activity(SpanKind kind, std::string_view name);
  void take_graph(std::size_t node, std::size_t graph);
  void item(std::string_view key, std::int64_t number) { add({.key = key, .number = number}); }
  void text_item(std::string_view key, std::string_view text) { add({.key = key, .text = text}); }
  void add(const recording::Item& item);
  void triple(std::string_view key, std::size_t offset, std::string& text);

  std::uint32_t version_;
  std::int64_t process_;
  Texts texts_;
  Contexts& contexts_;
  std::span<const std::byte> record_;
  Decoded decoded_;
  std::string name_, first_, second_;  // texts that are put together; they keep their memory
};

/// Stores what was decoded. False: there was nothing to store.
bool write(recording::ThreadWriter& pen, const Decoded& decoded);

}  // namespace rankscope::collectors::cupti
