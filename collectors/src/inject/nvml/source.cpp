#include "inject/nvml/source.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "inject/recorder/pace.h"
#include "inject/recorder/quiet_thread.h"
#include "inject/recorder/recorder_state.h"
#include "nvml/sampler.h"
#include "rankscope/core/format.h"
#include "spool/claim.h"

namespace rankscope::inject {
namespace {

constexpr double fastest_hz = 5;  // NVML renews its values up to six times a second
constexpr std::int64_t claim_period_ns = 1'000'000'000;
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

void sample_for_ever(collectors::NvmlSampler& sampler, recording::ThreadWriter& pen, std::int64_t period_ns) {
  std::size_t said = 0;
  const std::size_t slow_reads = collectors::NvmlSampler::slow_reads_in(period_ns);
  const auto store = [&pen](const collectors::NvmlSample& value) { pen.counter(value.name, value.value); };
  collectors::Pace pace{period_ns};
  for (const pid_t process = getpid(); getpid() == process && goes_on();) {
    gate.open.load(std::memory_order_relaxed) ? sampler.sample(slow_reads, store) : sampler.pause();
    for (; said < sampler.unsupported().size(); ++said)
      pen.metadata("nvml_without " + sampler.unsupported()[said].name, sampler.unsupported()[said].why);
    pace.wait_while(goes_on);
  }
}

/// One process of a host samples its GPUs, also where a launcher has initialised CUDA, which has no local rank. Where
/// that one has ended, the next one goes on. Not held: the process ends, or its recording.
collectors::Claim claim_gpus() {
  collectors::Pace pace{claim_period_ns};
  for (const pid_t process = getpid(); getpid() == process && goes_on(); pace.wait_while(goes_on)) {
    collectors::Claim claim{recorder_state().settings.segments + "/sampled-nvml"};
    if (claim.held()) return claim;
  }
  return {};
}

void* sample(void*) {
  guarded([] {
    const collectors::Claim claim = claim_gpus();
    ThreadState* const state = claim.held() ? here() : nullptr;
    if (state == nullptr) return;
    collectors::NvmlSampler sampler;
    if (!sampler.problem().empty()) return say_problem(state->pen(), sampler);
    describe(state->pen(), sampler);
    const double hz = std::clamp(recorder_state().settings.sample_hz, 0.0, fastest_hz);
    if (hz > 0) sample_for_ever(sampler, state->pen(), static_cast<std::int64_t>(1e9 / hz));
  });
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
