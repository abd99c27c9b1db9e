// The part of the test double of libcupti that samples counters, and a CUDA driver with the GPUs that it samples. It
// makes a sample for each interval that has passed, and aborts where calls come in an order in which CUPTI crashes.
// STANDIN_PM_REFUSES is "CALL=STATUS" of one that is refused, STANDIN_PM_CHIP the chip, STANDIN_PM_ROOM the number of
// metrics that fit into one pass, STANDIN_PM_OVERFLOWS loses three samples at the third decoding, STANDIN_PM_FALTERS
// makes a value of the third sample no number, STANDIN_PM_IDLE keeps the GPU unused, STANDIN_CUDA_VERSION is the newest
// CUDA that the driver runs, STANDIN_PM_NEEDS_HOST has it need libnvperf_host as CUPTI does.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cupti_builder.h"
#include "pm/cupti_pm.h"

#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED std::uint64_t standin_now();

namespace {

namespace pm = rankscope::collectors::cupti::pm;

constexpr int success = 0, invalid = 1, invalid_operation = 7, not_initialized = 15, invalid_metric = 17;

struct Sample {
  std::uint64_t begin = 0, end = 0, number = 0;
};
/// Where a counter data image begins.
struct Image {
  std::uint64_t cleared = 0;
  std::uint64_t count = 0;
  std::uint64_t most = 0;
};
struct State {
  std::mutex mutex;
  pid_t process = getpid();
  int profilers = 0, hosts = 0;
  bool enabled = false, configured = false, started = false;
  std::uint64_t interval = 0, next = 0, stopped_at = 0, number = 0;
  std::uint64_t most_samples = 0;
  int decodes = 0;
};
State& state() {
  static State* const only = new State;
  return *only;
}
std::atomic<unsigned> evaluated{0}, decoded{0}, polls{0};
std::atomic<bool> sampling{false};
std::atomic<std::uint64_t> sampled_until{0};

std::string text_in(const char* variable, const char* otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : text;
}
std::string chip() { return text_in("STANDIN_PM_CHIP", "GH100"); }
bool is_set(const char* variable) { return std::getenv(variable) != nullptr; }
void require(bool holds) {
  if (!holds || getpid() != state().process) std::abort();
}
int answer(std::string_view call) {
  const std::string refused = text_in("STANDIN_PM_REFUSES", "");
  return refused.starts_with(std::string{call} + "=") ? std::stoi(refused.substr(call.size() + 1)) : success;
}
template <class Params>
void check(const Params* params) {
  require(params->struct_size >= sizeof(Params) - 7 && params->struct_size <= sizeof(Params) &&
          params->reserved == nullptr);
}

/// An older chip has no realtime counter of its tensor pipe, and no NVLink.
bool has(std::string_view metric) {
  const bool known = metric.starts_with("sm__") || metric.starts_with("dram__") || metric.starts_with("pcie__");
  if (chip() == "AD102" && metric.find("realtime") != std::string_view::npos) return false;
  return known || (chip() != "AD102" && metric.starts_with("nvl"));
}

struct Host {
  std::vector<std::string> metrics;
};

double value_of(std::string_view metric, std::uint64_t number) {
  if (metric.starts_with("sm__cycles")) return 62.5;
  if (is_set("STANDIN_PM_FALTERS") && number == 2 && metric.starts_with("sm__")) return std::nan("");
  if (metric.starts_with("sm__")) return 31.25;
  return metric.ends_with("per_second") ? 1e9 : 12.5;
}

}  // namespace

// For the program that plays the GPU.
EXPORTED unsigned standin_samples() { return evaluated; }
EXPORTED std::uint64_t standin_sampled_until() { return sampled_until; }
EXPORTED unsigned standin_decodes() { return decoded; }
EXPORTED unsigned standin_polls() { return polls; }
EXPORTED bool standin_is_sampling() { return sampling; }

EXPORTED int cuInit(unsigned) {
  constexpr int no_device = 100;
  const std::string works = text_in("STANDIN_CUDA_WORKS", "");
  if (works == "crashes") std::abort();
  while (works == "hangs") pause();
  return works.empty() ? no_device : success;
}
EXPORTED int cuDriverGetVersion(int* version) {
  *version = std::stoi(text_in("STANDIN_CUDA_VERSION", "13000"));
  return success;
}
EXPORTED bool standin_push(const void* record, std::size_t bytes);
/// CUPTI records it, as every call of the driver.
EXPORTED int cuDeviceGetCount(int* count) {
  *count = 1;
  const std::uint64_t now = standin_now();
  const auto thread = static_cast<std::uint32_t>(syscall(SYS_gettid));
  const auto record = rankscope::testing::make_call(4, 4, thread, {now, now + 100, 0, 0, 0, 0});
  standin_push(record.bytes().data(), record.bytes().size());
  return success;
}
EXPORTED int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return success;
}
EXPORTED int cuDeviceGetUuid_v2(unsigned char* bytes, int device) {
  std::memset(bytes, 0x10 + device, 16);
  return success;
}
EXPORTED int cuDevicePrimaryCtxGetState(int, unsigned*, int* active) {
  ++polls;
  *active = is_set("STANDIN_PM_IDLE") ? 0 : 1;
  return success;
}

EXPORTED int cuptiProfilerInitialize(pm::Profiler* params) {
  check(params);
  ++state().profilers;
  return answer("initialize");
}
EXPORTED int cuptiProfilerDeInitialize(pm::Profiler* params) {
  check(params);
  require(--state().profilers == 0 && !state().enabled && state().hosts == 0);
  return success;
}
EXPORTED int cuptiDeviceGetChipName(pm::ChipName* params) {
  check(params);
  static const std::string* const name = new std::string{chip()};
  params->name = name->c_str();
  return answer("chip");
}
EXPORTED int cuptiPmSamplingGetCounterAvailability(pm::Availability* params) {
  check(params);
  require(state().profilers == 1 && !state().enabled);
  if (params->image == nullptr)
    params->bytes = 4;
  else
    std::memcpy(params->image, "here", params->bytes);
  return answer("availability");
}
EXPORTED int cuptiProfilerHostInitialize(pm::HostInitialize* params) {
  check(params);
  require(params->profiler == pm::HostInitialize::pm_sampling && chip() == params->chip);
  require(params->availability == nullptr || std::memcmp(params->availability, "here", 4) == 0);
  // By its bare name; where the linker would look for it is left out, since this machine may have one.
  if (is_set("STANDIN_PM_NEEDS_HOST") && dlopen("libnvperf_host.so", RTLD_NOW | RTLD_NOLOAD) == nullptr)
    return not_initialized;
  params->host = new Host;
  ++state().hosts;
  return answer("host");
}
EXPORTED int cuptiProfilerHostDeinitialize(pm::HostDeinitialize* params) {
  check(params);
  delete static_cast<Host*>(params->host);
  --state().hosts;
  return success;
}
EXPORTED int cuptiProfilerHostConfigAddMetrics(pm::AddMetrics* params) {
  check(params);
  for (std::size_t i = 0; i < params->count; ++i) {
    if (!has(params->names[i])) return invalid_metric;
    static_cast<Host*>(params->host)->metrics.emplace_back(params->names[i]);
  }
  return success;
}
EXPORTED int cuptiProfilerHostGetConfigImageSize(pm::ConfigSize* params) {
  check(params);
  params->bytes = static_cast<Host*>(params->host)->metrics.size();
  return success;
}
EXPORTED int cuptiProfilerHostGetConfigImage(pm::ConfigImage* params) {
  check(params);
  std::memset(params->image, 'c', params->bytes);
  return success;
}
EXPORTED int cuptiProfilerHostGetNumOfPasses(pm::Passes* params) {
  check(params);
  require(params->image[0] == 'c');
  params->passes = params->bytes > std::stoul(text_in("STANDIN_PM_ROOM", "100")) ? 2 : 1;
  return success;
}

EXPORTED int cuptiPmSamplingEnable(pm::Enable* params) {
  check(params);
  if (const int status = answer("enable"); status != success) return status;
  if (state().enabled) return invalid_operation;
  state().enabled = true;
  params->sampler = &state();
  return success;
}
EXPORTED int cuptiPmSamplingSetConfig(pm::SetConfig* params) {
  check(params);
  require(state().enabled && params->sampler == &state() && params->config[0] == 'c' && params->hardware_bytes > 0);
  require(params->trigger == pm::Trigger::time && params->append == pm::Append::keep_latest);
  state().interval = params->interval;
  state().configured = true;
  return answer("config");
}
EXPORTED int cuptiPmSamplingStart(pm::Sampler* params) {
  check(params);
  require(state().configured && !state().started && state().most_samples > 0);
  const std::lock_guard lock(state().mutex);
  state().started = sampling = true;
  state().next = standin_now();
  return answer("start");
}
EXPORTED int cuptiPmSamplingStop(pm::Sampler* params) {
  check(params);
  require(state().started);
  const std::lock_guard lock(state().mutex);
  state().started = false;
  state().stopped_at = standin_now();
  return success;
}
EXPORTED int cuptiPmSamplingDisable(pm::Sampler* params) {
  check(params);
  require(state().enabled && !state().started);
  state().enabled = state().configured = sampling = false;
  return success;
}
EXPORTED int cuptiPmSamplingGetCounterDataSize(pm::DataSize* params) {
  check(params);
  require(params->count > 0 && has(params->names[0]));
  state().most_samples = std::min<std::uint64_t>(params->most_samples, 8);  // so that images fill
  params->bytes = sizeof(Image) + state().most_samples * sizeof(Sample);
  return success;
}
EXPORTED int cuptiPmSamplingCounterDataImageInitialize(pm::DataImage* params) {
  check(params);
  const Image image{.cleared = 1, .count = 0, .most = state().most_samples};
  std::memcpy(params->image, &image, sizeof image);
  return success;
}
EXPORTED int cuptiPmSamplingDecodeData(pm::Decode* params) {
  require(params->struct_size == offsetof(pm::Decode, overflowed) + 1 && state().enabled);
  State& own = state();
  const std::lock_guard lock(own.mutex);
  if (const int status = answer("decode"); status != success) return status;
  Image image;
  std::memcpy(&image, params->image, sizeof image);
  require(image.cleared == 1 && image.count == 0);
  const std::uint64_t now = own.started ? standin_now() : own.stopped_at;
  if (++own.decodes == 3 && is_set("STANDIN_PM_OVERFLOWS")) {
    params->overflowed = 1;
    own.next += 3 * own.interval;
  }
  const std::uint64_t at_a_time = is_set("STANDIN_PM_STOPS_EARLY") ? 3 : image.most;  // for a reason that nobody knows
  for (; image.count < at_a_time && own.next + own.interval <= now; ++image.count) {
    const Sample sample{own.next, own.next + own.interval, own.number++};
    own.next = sample.end;
    std::memcpy(params->image + sizeof image + image.count * sizeof sample, &sample, sizeof sample);
  }
  image.cleared = 0;
  std::memcpy(params->image, &image, sizeof image);
  const bool full = image.count == at_a_time && own.next + own.interval <= now;
  params->stopped = !full                     ? pm::Stopped::no_more
                    : at_a_time == image.most ? pm::Stopped::image_full
                                              : pm::Stopped::other;
  ++decoded;
  return success;
}
EXPORTED int cuptiPmSamplingGetCounterDataInfo(pm::DataInfo* params) {
  check(params);
  Image image;
  std::memcpy(&image, params->image, sizeof image);
  params->total = image.most;
  params->populated = params->completed = image.count;
  return success;
}

namespace {

Sample sample_in(const std::uint8_t* image, std::size_t index) {
  Sample sample;
  std::memcpy(&sample, image + sizeof(Image) + index * sizeof sample, sizeof sample);
  return sample;
}

}  // namespace

EXPORTED int cuptiPmSamplingCounterDataGetSampleInfo(pm::SampleInfo* params) {
  check(params);
  const Sample sample = sample_in(params->image, params->sample);
  params->begin = sample.begin;
  params->end = sample.end;
  return success;
}
EXPORTED int cuptiProfilerHostEvaluateToGpuValues(pm::Evaluate* params) {
  check(params);
  const auto& own = *static_cast<Host*>(params->host);
  if (params->count != own.metrics.size()) return invalid;
  const Sample sample = sample_in(params->image, params->sample);
  for (std::size_t i = 0; i < params->count; ++i) params->values[i] = value_of(params->names[i], sample.number);
  sampled_until = sample.end;
  ++evaluated;
  return success;
}
