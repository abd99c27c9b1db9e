#include "inject/nvml/source.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>

#include "inject/recorder/pace.h"
#include "inject/recorder/quiet_thread.h"
#include "inject/recorder/recorder_state.h"
#include "nvml/sampler.h"
#include "rankscope/core/format.h"
#include "spool/claim.h"
#include "spool/segment_names.h"

namespace rankscope::inject {
namespace {

constexpr double fastest_hz = 5;  // NVML renews its values up to six times a second
constexpr std::int64_t claim_period_ns = 1'000'000'000;
constexpr std::int64_t look_period_ns = 100'000'000;  // whether the recording goes on
constexpr std::size_t sampler_stack_bytes = std::size_t{1} << 20;

void describe(recording::ThreadWriter& pen, const collectors::NvmlSampler& sampler) {
  pen.metadata("driver_version", sampler.driver_version());
  for (const collectors::NvmlDevice& device : sampler.devices()) {
    pen.metadata(format("nvml_gpu_{}", device.index), format("{} {}", device.uuid, device.name));
    if (device.divided) pen.metadata(format("nvml_mig_{}", device.index), "on");
  }
}

/// Counters that nobody asked for by name are not missed where the library is not there, as in many containers.
void say_problem(recording::ThreadWriter& pen, const collectors::NvmlSampler& sampler) {
  if (!sampler.is_absent() || recorder_state().settings.collect_named) count_failed_source();
  pen.metadata("nvml_problem", sampler.problem());
}

bool goes_on() { return !window_control.is_finished() && !process_ends(); }
bool stores_samples() { return gate.open.load(std::memory_order_relaxed) && goes_on(); }

/// Samples of this process; the library is loaded when its turn comes first.
class Samples {
 public:
  explicit Samples(recording::ThreadWriter& pen) : pen_(pen) {
    if (!sampler_.problem().empty())
      say_problem(pen, sampler_);
    else
      describe(pen, sampler_);
  }
  [[nodiscard]] bool possible() const { return sampler_.problem().empty(); }

  void take_while_recording(std::int64_t period_ns) {
    const std::size_t slow_reads = collectors::NvmlSampler::slow_reads_in(period_ns);
    const auto store = [this](const collectors::NvmlSample& value) { pen_.counter(value.name, value.value); };
    collectors::Pace pace{period_ns};
    for (; stores_samples(); pace.wait_while(stores_samples)) {
      sampler_.sample(slow_reads, store);
      for (; said_ < sampler_.unsupported().size(); ++said_)
        pen_.metadata("nvml_without " + sampler_.unsupported()[said_].name, sampler_.unsupported()[said_].why);
    }
    sampler_.pause(store);
  }

 private:
  recording::ThreadWriter& pen_;
  collectors::NvmlSampler sampler_{};
  std::size_t said_ = 0;  ///< of what is not supported
};

void say_unclaimed(recording::ThreadWriter& pen, const std::filesystem::path& path, int error) {
  pen.metadata(
      "nvml_problem",
      format("{} cannot be locked ({}), so the processes of this host cannot agree on which of them samples the "
             "GPUs: each process with local rank 0, or without a rank, does so",
             path.string(), std::strerror(error)));
}

/// One process of a host samples its GPUs, also where a launcher has initialised CUDA, which has no local rank. Only a
/// process that records may keep others from it: in a launcher, windows of steps never open.
void take_turns() {
  const std::filesystem::path path{recorder_state().settings.segments + "/sampled-nvml-" + collectors::host_name()};
  const double hz = std::clamp(recorder_state().settings.sample_hz, 0.0, fastest_hz);
  const std::int64_t period_ns = hz > 0 ? static_cast<std::int64_t>(1e9 / hz) : claim_period_ns;
  std::optional<Samples> samples;
  bool said_unclaimed = false;
  collectors::Pace turns{claim_period_ns};
  collectors::Pace looks{look_period_ns};
  while (goes_on()) {
    if (!stores_samples()) {
      looks.wait_while(goes_on);
      continue;
    }
    const collectors::Claim claim{path};
    ThreadState* const state = claim.held() || claim.error() != 0 ? here() : nullptr;
    if (state != nullptr) {
      if (!claim.held() && !std::exchange(said_unclaimed, true)) say_unclaimed(state->pen(), path, claim.error());
      if (!samples) samples.emplace(state->pen());
      if (hz == 0) return;
      // What is not possible here is not possible in the next process either, which would only say so once more.
      while (!samples->possible() && goes_on()) turns.wait_while(goes_on);
      samples->take_while_recording(period_ns);
    } else {
      turns.wait_while(goes_on);
    }
  }
}

void* sample(void*) {
  guarded(take_turns);
  return nullptr;
}

}  // namespace

void start_nvml() noexcept {
  static std::atomic<bool> started{false};
  recording::SegmentWriter* const segment = recorder_state().published.load();
  if (segment == nullptr || segment->header().fixed.local_rank > 0 || started.exchange(true)) return;
  start_quiet_thread("rankscope-nvml", sampler_stack_bytes, sample);
}

}  // namespace rankscope::inject
