// Makes activity records as CUPTI lays them out: by offsets, of any version. tests/collectors/cupti/headers_test.cpp
// checks the same offsets against NVIDIA's headers where they are installed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace rankscope::testing {

struct Numbers {
  std::uint64_t start = 0, end = 0;
  std::uint32_t device = 0, context = 1, stream = 7, correlation = 0;
};

/// Bytes of one record. What is not set is garbage where CUPTI leaves padding, 0 elsewhere.
class ActivityRecord {
 public:
  ActivityRecord(std::uint32_t kind, std::size_t bytes) : bytes_(bytes, std::byte{0}) { put(0, kind); }
  template <class T>
  ActivityRecord& put(std::size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
    return *this;
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Sizes of the structures of a version, as cuptiActivityGetNextRecord steps: scripts/cupti-versions compares them with
/// the headers of each release, and with the steps of each library up to 13.1 (later ones need a driver).
inline std::size_t activity_bytes(std::uint32_t kind, std::uint32_t version) {
  const auto since = [version](std::uint32_t first, std::size_t bytes, std::size_t before) {
    return version >= first ? bytes : before;
  };
  switch (kind) {
    case 1:
      return since(130400, 112, since(26, 96, 88));
    case 2:
      return since(130400, 104, 88);
    case 4:
    case 5:
      return 40;
    case 8:
      return since(130200, 192, 184);
    case 9:
      return since(130100, 40, since(23, 32, 24));
    case 10:
      return since(130400, 248, since(130300, 232, since(130100, 224, since(130000, 216, 208))));
    case 17:
      return 56;
    case 22:
      return 96;
    case 36:
      return since(130500, 80, since(26, 56, 24));
    case 37:
      return 24;
    case 38:
      return since(26, 56, 40);
    case 39:
      return 24;
    case 49:
      return since(24, 128, 120);
    case 50:
      return since(130000, 80, 72);
    case 51:
      return 56;
    default:
      return 64;
  }
}

inline ActivityRecord make_kernel(std::uint32_t version, const Numbers& n, const char* name) {
  ActivityRecord record{10, activity_bytes(10, version)};
  record.put(6, std::uint16_t{40}).put(16, n.start).put(24, n.end).put(40, n.device).put(44, n.context);
  record.put(48, n.stream).put(92, n.correlation).put(104, name);
  const std::int32_t shape[6] = {4, 2, 1, 128, 1, 1};
  for (std::size_t i = 0; i < 6; ++i) record.put(52 + 4 * i, shape[i]);
  return record.put(76, std::int32_t{1024}).put(80, std::int32_t{512});
}

inline ActivityRecord make_copy(std::uint32_t version, const Numbers& n, std::uint64_t bytes) {
  ActivityRecord record{1, activity_bytes(1, version)};
  record.put(4, std::uint8_t{1}).put(5, std::uint8_t{2}).put(6, std::uint8_t{3}).put(8, bytes).put(16, n.start);
  return record.put(24, n.end).put(32, n.device).put(36, n.context).put(40, n.stream).put(44, n.correlation);
}

inline ActivityRecord make_peer_copy(std::uint32_t version, const Numbers& n, std::uint64_t bytes) {
  ActivityRecord record{22, activity_bytes(22, version)};
  record.put(4, std::uint8_t{10}).put(5, std::uint8_t{3}).put(6, std::uint8_t{3}).put(8, bytes).put(16, n.start);
  record.put(24, n.end).put(32, n.device).put(36, n.context).put(40, n.stream).put(60, n.correlation);
  return record.put(44, std::uint32_t{0}).put(52, std::uint32_t{1});
}

inline ActivityRecord make_set(std::uint32_t version, const Numbers& n, std::uint64_t bytes) {
  ActivityRecord record{2, activity_bytes(2, version)};
  record.put(8, bytes).put(16, n.start).put(24, n.end).put(32, n.device).put(36, n.context).put(40, n.stream);
  return record.put(44, n.correlation).put(50, std::uint16_t{3});
}

/// `number` is the call's, of the runtime (kind 5) or the driver (kind 4).
inline ActivityRecord make_call(std::uint32_t kind, std::uint32_t number, std::uint32_t thread, const Numbers& n,
                                std::uint32_t result = 0) {
  ActivityRecord record{kind, 40};
  record.put(4, number).put(8, n.start).put(16, n.end).put(28, thread).put(32, n.correlation);
  return record.put(36, result);
}

inline ActivityRecord make_event(std::uint32_t version, const Numbers& n, std::uint32_t event, std::uint64_t number) {
  ActivityRecord record{36, activity_bytes(36, version)};
  record.put(4, n.correlation).put(8, n.context).put(12, n.stream).put(16, event);
  if (version >= 26) record.put(24, n.device).put(40, n.start).put(48, number);
  return record;
}

inline ActivityRecord make_wait(std::uint32_t version, const Numbers& n, std::uint32_t event, std::uint64_t number) {
  ActivityRecord record{38, activity_bytes(38, version)};
  record.put(4, std::uint32_t{2}).put(8, n.start).put(16, n.end).put(24, n.correlation).put(28, n.context);
  record.put(32, n.stream).put(36, event);
  if (version >= 26) record.put(40, number);
  return record;
}

inline ActivityRecord make_overhead(std::uint32_t version, std::uint32_t kind, std::uint32_t thread, const Numbers& n) {
  ActivityRecord record{17, activity_bytes(17, version)};
  return record.put(4, kind).put(8, std::uint32_t{2}).put(16, thread).put(24, n.start).put(32, n.end);
}

inline ActivityRecord make_memory(std::uint32_t version, bool releases, std::uint64_t bytes, const Numbers& n) {
  ActivityRecord record{49, activity_bytes(49, version)};
  record.put(4, std::uint32_t{releases ? 2U : 1U}).put(8, std::uint32_t{3}).put(12, n.correlation);
  record.put(16, std::uint64_t{0x7000}).put(24, bytes).put(32, n.start).put(52, n.device).put(56, n.context);
  return record.put(60, n.stream);
}

inline ActivityRecord make_pool(std::uint32_t version, std::uint32_t operation, std::uint64_t bytes, const Numbers& n) {
  ActivityRecord record{50, activity_bytes(50, version)};
  record.put(4, operation).put(12, n.correlation).put(20, n.device).put(32, std::uint64_t{0x9000}).put(40, bytes);
  return record.put(48, std::uint64_t{64}).put(56, n.start);
}

inline ActivityRecord make_context(std::uint32_t version, std::uint32_t context, std::uint32_t device) {
  return ActivityRecord{9, activity_bytes(9, version)}.put(4, context).put(8, device);
}

inline ActivityRecord make_device(std::uint32_t version, std::uint32_t ordinal, const char* name) {
  ActivityRecord record{8, activity_bytes(8, version)};
  record.put(8, std::uint64_t{3'350'000'000}).put(16, std::uint64_t{80} << 30).put(32, std::uint32_t{32});
  record.put(36, std::uint32_t{1'980'000}).put(44, std::uint32_t{132}).put(104, std::uint32_t{9});
  record.put(112, ordinal).put(136, name).put(144, std::uint8_t{1});
  for (std::size_t i = 0; i < 16; ++i) record.put(120 + i, static_cast<std::uint8_t>(0x10 + i));
  return record;
}

/// A part of a device that MIG divides.
inline ActivityRecord make_device_part(std::uint32_t version, std::uint32_t ordinal, const char* name) {
  ActivityRecord record = make_device(version, ordinal, name);
  record.put(145, std::uint8_t{1}).put(152, std::uint32_t{7}).put(156, std::uint32_t{1});
  for (std::size_t i = 0; i < 16; ++i) record.put(160 + i, static_cast<std::uint8_t>(0x40 + i));
  return record;
}

inline ActivityRecord make_graph(std::uint32_t version, const Numbers& n, std::uint32_t graph) {
  ActivityRecord record{51, activity_bytes(51, version)};
  record.put(4, n.correlation).put(8, n.start).put(16, n.end).put(24, n.device).put(28, graph).put(32, n.context);
  return record.put(36, n.stream);
}

}  // namespace rankscope::testing
