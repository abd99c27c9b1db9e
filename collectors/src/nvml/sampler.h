// What NVML knows about the GPUs of a host, sampled. The library is loaded at run time. NVML counts a GPU as busy while
// any kernel runs on it, also one that waits in NCCL: its value is named so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rankscope::collectors {

namespace nvml {
struct Functions;
struct GpmFunctions;
struct Quantity;
}  // namespace nvml

/// One value of one GPU: "GPU 0 nvml_busy_percent". Counts are totals since the driver was loaded.
struct NvmlSample {
  std::string_view name;
  double value = 0;
};

/// A GPU as NVML numbers it, which may differ from CUDA's ordinals: the UUID tells.
struct NvmlDevice {
  std::uint32_t index = 0;
  std::string name{};
  std::string uuid{};
  bool divided = false;  ///< by MIG: its values are those of the whole GPU, and processes have parts of it
};

/// What is not sampled: "GPU 0 power_watts".
struct NvmlMissing {
  std::string name;
  std::string why;
};

class NvmlSampler {
 public:
  /// Loads `library`, RANKSCOPE_NVML or libnvidia-ml.so.1. What fails is said by problem().
  explicit NvmlSampler(const std::string& library = {});
  NvmlSampler(const NvmlSampler&) = delete;
  NvmlSampler& operator=(const NvmlSampler&) = delete;
  ~NvmlSampler();

  /// Empty: it can sample.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// There is no such library: a host without NVIDIA's driver, or a container without this part of it.
  [[nodiscard]] bool is_absent() const { return absent_; }
  [[nodiscard]] const std::string& driver_version() const { return driver_; }
  [[nodiscard]] std::span<const NvmlDevice> devices() const { return devices_; }

  using Take = std::function<void(const NvmlSample&)>;
  /// Reads the values of all GPUs and hands each on before it reads the next one. Of those that take 20 ms each
  /// (PCIe's), `slow_reads` at most, in turn; those of errors once a second. What a GPU does not support is asked once
  /// and then left out; a value that fails later is asked again. GPM's values are means since the call before.
  void sample(std::size_t slow_reads, const Take& take);
  /// As many as take a tenth of a period, but one at least.
  [[nodiscard]] static std::size_t slow_reads_in(std::int64_t period_ns);
  /// Nobody takes values for a while: what passes until the next call belongs to none. Hands on the values of errors,
  /// so that those since the last time are known.
  void pause(const Take& take);
  /// Quantities that are left out, each once; "GPU 0 gpm" for all of GPM's.
  [[nodiscard]] std::span<const NvmlMissing> unsupported() const { return unsupported_; }

 private:
  struct Track;
  struct GpmTrack;
  std::string load(const std::string& library);
  std::string find_devices();
  std::vector<Track>& tracks_of(const nvml::Quantity& quantity);
  void read(Track& track, const Take& take);
  void read(GpmTrack& track, const Take& take);

  std::unique_ptr<nvml::Functions> call_;
  std::unique_ptr<nvml::GpmFunctions> gpm_call_;
  std::string problem_;
  bool absent_ = false;
  std::string driver_;
  std::vector<NvmlDevice> devices_;
  std::vector<Track> tracks_;
  std::vector<Track> slow_tracks_;
  std::vector<Track> rare_tracks_;
  std::int64_t rare_next_ns_ = 0;  ///< of a clock that never goes back
  std::size_t next_slow_ = 0;
  std::vector<GpmTrack> gpm_tracks_;
  std::vector<NvmlMissing> unsupported_;
};

}  // namespace rankscope::collectors
