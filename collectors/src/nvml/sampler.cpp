#include "nvml/sampler.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>

#include "nvml/gpm.h"
#include "nvml/quantities.h"
#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

using nvml::Quantity;

constexpr std::uint32_t most_devices = 64;
constexpr std::size_t text_bytes = 96;
constexpr std::int64_t slow_share = 10;  // a tenth of the time

std::int64_t now_ns() { return std::chrono::nanoseconds{std::chrono::steady_clock::now().time_since_epoch()}.count(); }

}  // namespace

struct NvmlSampler::Track {
  const Quantity* quantity = nullptr;
  nvml::Handle device = nullptr;
  std::string name{};
  bool supported = true;
  bool delivered = false;  ///< once: then a value that fails is missing, not unsupported
};

/// GPM of one GPU, with the names of its counters.
struct NvmlSampler::GpmTrack {
  GpmTrack(const nvml::GpmFunctions& call, nvml::Handle handle, std::uint32_t index)
      : device(std::make_unique<nvml::GpmDevice>(call, handle)), gpu(format("GPU {}", index)) {
    for (const auto& quantity : nvml::gpm_quantities()) names.push_back(format("{} {}", gpu, quantity.name));
  }
  [[nodiscard]] const std::string& name_of(const nvml::GpmQuantity& quantity) const {
    return names[static_cast<std::size_t>(&quantity - nvml::gpm_quantities().data())];
  }

  std::unique_ptr<nvml::GpmDevice> device;
  std::string gpu;
  std::vector<std::string> names{};
};

NvmlSampler::NvmlSampler(const std::string& library)
    : call_(std::make_unique<nvml::Functions>()), gpm_call_(std::make_unique<nvml::GpmFunctions>()) {
  const char* const named = std::getenv("RANKSCOPE_NVML");
  const std::string wanted = named != nullptr && *named != '\0' ? named : "libnvidia-ml.so.1";
  problem_ = load(library.empty() ? wanted : library);
  if (problem_.empty()) problem_ = find_devices();
}

NvmlSampler::~NvmlSampler() {
  gpm_tracks_.clear();
  if (call_->shutdown != nullptr) call_->shutdown();
}

std::string NvmlSampler::load(const std::string& library) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  absent_ = handle == nullptr;
  if (absent_)
    return format(
        "{} cannot be loaded: there is no NVIDIA driver, or a container hides it; in a container, "
        "NVIDIA_DRIVER_CAPABILITIES must include utility",
        library);
  const auto find = [handle](const char* name, auto& function) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  int (*shutdown)() = nullptr;
  const bool usable = find("nvmlInit_v2", call_->init) && find("nvmlShutdown", shutdown) &&
                      find("nvmlErrorString", call_->error_text) && find("nvmlDeviceGetCount_v2", call_->count) &&
                      find("nvmlDeviceGetHandleByIndex_v2", call_->handle) && find("nvmlDeviceGetUUID", call_->uuid) &&
                      find("nvmlDeviceGetName", call_->name);
  if (!usable) return format("{} lacks NVML functions that rankscope needs", library);
  find("nvmlSystemGetDriverVersion", call_->driver_version);
  find("nvmlDeviceGetMigMode", call_->mig_mode);
  find("nvmlDeviceGetUtilizationRates", call_->busy);
  find("nvmlDeviceGetMemoryInfo", call_->memory);
  find("nvmlDeviceGetClockInfo", call_->clock);
  find("nvmlDeviceGetPowerUsage", call_->power);
  find("nvmlDeviceGetTotalEnergyConsumption", call_->energy);
  find("nvmlDeviceGetTemperature", call_->temperature);
  find("nvmlDeviceGetCurrentClocksThrottleReasons", call_->throttle_reasons);
  find("nvmlDeviceGetPcieThroughput", call_->pcie);
  find("nvmlDeviceGetFieldValues", call_->fields);
  find("nvmlDeviceGetTotalEccErrors", call_->ecc_errors);
  *gpm_call_ = nvml::find_gpm_functions(handle);
  if (const int status = call_->init(); status != nvml::success)
    return format("NVML cannot be initialized: {}", call_->error_text(status));
  call_->shutdown = shutdown;  // it was initialised
  return {};
}

std::string NvmlSampler::find_devices() {
  std::array<char, text_bytes> text{};
  if (call_->driver_version != nullptr && call_->driver_version(text.data(), text.size() - 1) == nvml::success)
    driver_ = text.data();
  unsigned count = 0;
  if (const int status = call_->count(&count); status != nvml::success)
    return format("NVML does not list devices: {}", call_->error_text(status));
  for (unsigned index = 0; index < std::min(count, most_devices); ++index) {
    nvml::Handle handle = nullptr;
    if (call_->handle(index, &handle) != nvml::success) continue;  // another user's, or lost
    NvmlDevice device{.index = index};
    if (call_->name(handle, text.data(), text.size() - 1) == nvml::success) device.name = text.data();
    if (call_->uuid(handle, text.data(), text.size() - 1) == nvml::success) device.uuid = text.data();
    unsigned mode = 0;
    unsigned pending = 0;
    device.divided =
        call_->mig_mode != nullptr && call_->mig_mode(handle, &mode, &pending) == nvml::success && mode != 0;
    devices_.push_back(device);
    for (const Quantity& quantity : nvml::quantities()) {
      tracks_of(quantity).push_back(
          {.quantity = &quantity, .device = handle, .name = format("GPU {} {}", index, quantity.name)});
    }
    gpm_tracks_.emplace_back(*gpm_call_, handle, index);
  }
  return devices_.empty() ? "NVML finds no GPU that this process can use" : "";
}

std::vector<NvmlSampler::Track>& NvmlSampler::tracks_of(const Quantity& quantity) {
  switch (quantity.cost) {
    case nvml::Cost::little:
      break;
    case nvml::Cost::measures:
      return slow_tracks_;
    case nvml::Cost::seldom:
      return rare_tracks_;
  }
  return tracks_;
}

std::size_t NvmlSampler::slow_reads_in(std::int64_t period_ns) {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, period_ns / slow_share / nvml::slow_read_ns));
}

void NvmlSampler::sample(std::size_t slow_reads, const Take& take) {
  for (Track& track : tracks_) read(track, take);
  for (std::size_t looked_at = 0; looked_at < slow_tracks_.size() && slow_reads > 0; ++looked_at) {
    Track& track = slow_tracks_[next_slow_];
    next_slow_ = (next_slow_ + 1) % slow_tracks_.size();
    if (track.supported) --slow_reads;
    read(track, take);
  }
  if (const std::int64_t now = now_ns(); now >= rare_next_ns_) {
    rare_next_ns_ = now + nvml::rare_period_ns;
    for (Track& track : rare_tracks_) read(track, take);
  }
  for (GpmTrack& track : gpm_tracks_) read(track, take);
  std::erase_if(gpm_tracks_, [](const GpmTrack& track) { return !track.device->problem().empty(); });
}

void NvmlSampler::pause(const Take& take) {
  for (Track& track : rare_tracks_) read(track, take);
  rare_next_ns_ = 0;  // the next call begins with a value, too
  for (GpmTrack& track : gpm_tracks_) track.device->forget();
}

void NvmlSampler::read(Track& track, const Take& take) {
  if (!track.supported) return;
  const auto value = track.quantity->read(*call_, track.device);
  track.delivered = track.delivered || value.has_value();
  track.supported = track.delivered;
  if (value)
    take({track.name, *value});
  else if (!track.supported)
    unsupported_.push_back({track.name, "not supported by this GPU or driver"});
}

void NvmlSampler::read(GpmTrack& track, const Take& take) {
  track.device->read(now_ns(), [&](const nvml::GpmQuantity& quantity, double value) {
    take({track.name_of(quantity), value});
  });
  track.device->take_missing([&](const nvml::GpmQuantity& quantity, std::string_view why) {
    unsupported_.push_back({track.name_of(quantity), std::string{why}});
  });
  if (!track.device->problem().empty()) unsupported_.push_back({track.gpu + " gpm", track.device->problem()});
}

}  // namespace rankscope::collectors
