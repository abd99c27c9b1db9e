// The counters of GPUs, wherever they were sampled: NVML's by one process for its whole host, PM sampling's by the
// first process that used the GPU. The UUID tells which GPU they are of; numbers of NVML are not those of CUDA.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/split/device_row.h"
#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// Whether the recording says which GPU it is.
enum class GpuIdentity : std::uint8_t { known, not_recorded, ambiguous };

/// A GPU as one process knows it.
struct UsedGpu {
  std::uint32_t process = 0;  ///< row of Run::processes()
  std::int32_t ordinal = -1;  ///< its number there; -1 = not recorded
  std::string name{};
  std::string uuid{};  ///< set if the identity is known
  GpuIdentity identity = GpuIdentity::not_recorded;
};

/// In words why the identity is not known; empty if it is.
[[nodiscard]] std::string_view why_no_uuid(const UsedGpu& gpu);

/// The GPUs on which the process of a rank worked, by their numbers.
[[nodiscard]] std::vector<UsedGpu> used_gpus(const Run& run, RankId rank);

/// "GPU-1234" of "GPU-1234 (power capped)": what recordings write before the first space.
[[nodiscard]] std::string_view first_word(std::string_view text);

/// A quantity that NVML samples, as recordings and reports name it, and where its spread belongs.
struct SpreadOf {
  const char* quantity;
  Section<Spread> NvmlCounters::*field;
};
inline constexpr std::array nvml_spreads{
    SpreadOf{"sm_clock_mhz", &NvmlCounters::sm_clock_mhz},
    SpreadOf{"memory_clock_mhz", &NvmlCounters::memory_clock_mhz},
    SpreadOf{"power_watts", &NvmlCounters::power_watts},
    SpreadOf{"temperature_celsius", &NvmlCounters::temperature_celsius},
    SpreadOf{"memory_used_bytes", &NvmlCounters::memory_used_bytes},
};

class SampledGpus {
 public:
  /// The run must outlive it.
  explicit SampledGpus(const Run& run);

  /// Of the samples inside the windows, which ascend and do not overlap.
  [[nodiscard]] Section<NvmlCounters> nvml_of(const UsedGpu& gpu, std::span<const TimeRange> windows) const;
  [[nodiscard]] Section<PmCounters> pm_of(const UsedGpu& gpu, std::span<const TimeRange> windows) const;

 private:
  /// "GPU 3" of a process.
  struct Place {
    std::uint32_t process = 0;
    std::int64_t number = 0;
    bool operator==(const Place&) const = default;
  };
  struct Series;

  void take_facts(std::uint32_t process);
  [[nodiscard]] std::string_view problem_at(const UsedGpu& gpu, std::string_view key) const;
  [[nodiscard]] std::string why_not_sampled(const UsedGpu& gpu, std::string_view key) const;
  [[nodiscard]] std::string why_no_nvml(const UsedGpu& gpu) const;
  [[nodiscard]] std::vector<Place> pm_places(const UsedGpu& gpu) const;
  [[nodiscard]] Series series(std::span<const Place> places, std::string_view quantity) const;
  void add_totals(std::span<const Place> places, std::span<const TimeRange> windows, NvmlCounters& counters) const;

  const Run& run_;
  std::map<std::pair<std::uint32_t, std::string_view>, const CounterTrack*> tracks_;
  std::map<std::string, std::vector<Place>, std::less<>> nvml_;  ///< by UUID
  std::map<std::string, std::vector<Place>, std::less<>> pm_;
  std::map<std::pair<StringId, std::string_view>, std::string_view> problems_;  ///< first of each host, by key
  std::set<std::string, std::less<>> divided_;                                  ///< UUIDs of GPUs that MIG divides
};

}  // namespace rankscope::analyzer
