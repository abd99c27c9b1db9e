// The hardware's counters of one GPU, sampled by the GPU itself.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pm/cupti_pm.h"
#include "pm/metrics.h"

namespace rankscope::collectors {

/// The values of one period of the GPU, in the order of PmSampler::names(); a value that is not finite is missing.
struct PmSample {
  std::int64_t begin_ns = 0;  ///< of CUPTI's clock
  std::int64_t end_ns = 0;
  std::span<const double> values{};
};

/// Not for several threads at a time. The GPU samples from the constructor on until finish().
class PmSampler {
 public:
  using Take = std::function<void(const PmSample&)>;

  /// `device` is CUDA's ordinal in this process. What fails is said by problem(), and the GPU is let go.
  PmSampler(const cupti::PmFunctions& call, std::uint32_t device, double hz);
  PmSampler(const PmSampler&) = delete;
  PmSampler& operator=(const PmSampler&) = delete;
  ~PmSampler();

  /// Empty: it samples. drain() may fail, too.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const std::string& chip() const { return chip_; }
  [[nodiscard]] std::span<const std::string_view> names() const { return selection_.names; }
  [[nodiscard]] std::span<const char* const> metrics() const { return selection_.metrics; }
  [[nodiscard]] std::span<const PmSelection::LeftOut> left_out() const { return selection_.left_out; }
  /// Hands over what was sampled since the last call. The first sample after a start is none: its period is not.
  void drain(const Take& take);
  /// Ends the sampling, hands over the rest, and lets the GPU go. Once; the destructor does it without the rest.
  void finish(const Take& take);
  /// Samples, and values of samples, that the GPU or CUPTI lost.
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }

 private:
  std::string prepare(std::uint32_t device);
  std::string configure();
  std::string make_image();
  [[nodiscard]] bool clear_image();
  struct Decoded {
    cupti::pm::Stopped stopped{};
    bool overflowed = false;
  };
  /// Nothing: no more will come, which problem() says.
  [[nodiscard]] std::optional<Decoded> decode();
  std::size_t take_all(const Take& take);  ///< how many
  void take_one(const Take& take, std::size_t index);
  void note_gap(const PmSample& sample);
  void restart();
  void stop();

  const cupti::PmFunctions& call_;
  std::uint64_t period_ns_;
  std::string name_;  ///< "GPU 0"
  std::string problem_;
  std::string chip_;
  std::vector<std::uint8_t> availability_;  // outlives the hosts
  PmSelection selection_;
  std::vector<std::uint8_t> image_;
  std::vector<double> values_;
  void* sampler_ = nullptr;
  bool running_ = false;
  bool first_ = true;        // the next sample is the first after a start
  bool overflowed_ = false;  // and it is not known yet by how much
  std::int64_t last_end_ns_ = 0;
  std::uint64_t dropped_ = 0;
};

}  // namespace rankscope::collectors
