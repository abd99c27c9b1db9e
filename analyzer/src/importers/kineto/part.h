// What one thread collects from one stretch of one trace file. Times are those of the file; lanes, ranks and what spans
// mean for each other are settled when the whole file is known (trace_file.h).
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "importers/kineto/categories.h"
#include "importers/kineto/event.h"
#include "rankscope/core/model/run_builder.h"

namespace rankscope::analyzer::kineto {

/// A row of the timeline in the file's own numbers. Texts that hold no number become one by their hash.
struct LaneKey {
  LaneClass what = LaneClass::thread;
  std::int64_t pid = 0;  ///< of streams: the device
  std::int64_t tid = 0;  ///< of streams: the stream
  auto operator<=>(const LaneKey&) const = default;
};

/// A span and the number that joins it to others.
struct Numbered {
  std::int64_t number = 0;
  std::uint32_t span = 0;
};

/// One end of an arrow between a forward and a backward operator.
struct FlowEnd {
  std::int64_t id = 0;
  bool starts = false;
  LaneId lane{};
  RunTime time{};
};

/// One [memory] event: what its device had allocated afterwards.
struct MemoryState {
  RunTime time{};
  std::int64_t order = 0;    ///< "Ev Idx": many events share one time
  std::int32_t device = -1;  ///< -1 = the host
  std::int64_t change = 0;
  std::int64_t allocated = -1;  ///< -1 = not recorded
  std::int64_t reserved = -1;
};

class Part {
 public:
  explicit Part(Texts texts);
  /// Adds an event, or counts why not.
  void take(const Event& event);
  Quality& quality() { return builder.quality(); }

  RunBuilder builder;  ///< of one process
  std::map<LaneKey, LaneId> lanes;
  std::vector<Numbered> calls;       ///< host calls by correlation
  std::vector<Numbered> activities;  ///< kernels and copies by correlation
  std::vector<std::uint32_t> comm_kernels;
  std::vector<std::uint32_t> comm_ranges;  ///< host ranges that describe a collective, and executed ones (gloo:)
  std::vector<FlowEnd> flows;
  std::vector<MemoryState> memory;
  std::map<std::int64_t, std::string> process_names;  ///< by pid
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names;
  std::set<std::string> devices_called;  ///< other than CUDA's and HIP's: "XPU"
  std::optional<TimeRange> extent;
  std::optional<RunTime> last;  ///< end of the last event in the file's order; of a step, which is a frame, its begin
  std::uint64_t equal_ids = 0;  ///< activities whose External id is their correlation: then it is none (docs/kineto.md)
  std::uint64_t ids = 0;
  bool fractions = false;    ///< some time has decimals
  bool float_times = false;  ///< some event has no ts, or one that JSON calls no integer

 private:
  enum class Role : std::uint8_t { plain, correlation, external_id, device, stream, drop, drop_if_zero, finished };
  struct Key {
    StringId id{};
    Role role = Role::plain;
  };
  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  using KeyMap = std::unordered_map<std::string, Key, KeyHash, std::equal_to<>>;
  struct KnownKey {
    std::string_view name{};
    const Key* key = nullptr;
  };

  void span(const Event& event);
  void instant(const Event& event);
  void mark_attributes(const Event& event, std::uint32_t mark);
  void memory_event(const Event& event, RunTime time);
  void counter(const Event& event);
  void flow(const Event& event);
  void name_row(const Event& event);
  void attributes(const Event& event, std::uint32_t span, const Category& category, const LaneKey& lane);
  void join(const Category& category, std::uint32_t span, std::int64_t correlation, std::int64_t external_id);
  void note_comm(const Category& category, std::uint32_t span, StringId name, SpanKind kind);

  const Key& key_of(std::string_view name);
  const KeyMap::value_type& key_in_map(std::string_view name);
  const Category& category_of(std::string_view name);
  std::string_view shortened(std::string_view text);
  StringId text_of(const Value& value);
  [[nodiscard]] AttributeValue attribute_of(const Value& value);
  std::optional<RunTime> time_of(const Value& value);
  LaneId lane_of(const LaneKey& key);
  [[nodiscard]] LaneKey lane_key(const Event& event, LaneClass what) const;
  SpanKind kind_of(const Category& category, StringId name);
  void extend(TimeRange time);

  KeyMap keys_;
  std::array<KnownKey, 256> known_keys_;
  std::vector<std::uint8_t> range_kinds_;   // by StringId: 1 + SpanKind, 0 = not looked at
  std::vector<std::uint8_t> kernel_kinds_;  // the same for kernels
  const Category* last_category_ = nullptr;
  LaneKey last_key_;
  LaneId last_lane_;
  std::string scratch_;
  std::vector<Attribute> scratch_attributes_;
  StringId index_key_;
  StringId category_key_;
};

/// Number of a pid or tid: itself, the digits at the end of "stream 7", else a negative number made of the text.
[[nodiscard]] std::int64_t row_number(const Value& value);

}  // namespace rankscope::analyzer::kineto
