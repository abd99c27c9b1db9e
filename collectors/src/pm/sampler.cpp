#include "pm/sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "cupti/library.h"
#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

namespace pm = cupti::pm;
namespace result = cupti::result;

constexpr std::uint32_t samples_per_image = 1024;
constexpr std::size_t hardware_bytes = std::size_t{64} << 20;
constexpr int most_decodes = 64;  // of one drain: what comes faster than it is taken must not hold the thread for ever

/// What its generation of hardware lacks (cupti_pmsampling.h). Of the system clock a cycle is taken for a nanosecond:
/// it runs at 1 to 2 GHz.
pm::Trigger trigger_of(const std::string& chip) {
  return chip.starts_with("TU") || chip == "GA100" ? pm::Trigger::system_clock : pm::Trigger::time;
}
pm::Append append_of(const std::string& chip) {
  return chip.starts_with("TU") ? pm::Append::keep_oldest : pm::Append::keep_latest;
}

}  // namespace

PmSampler::PmSampler(const cupti::PmFunctions& call, std::uint32_t device, double hz)
    : call_(call), period_ns_(static_cast<std::uint64_t>(1e9 / hz)), name_(format("GPU {}", device)) {
  problem_ = prepare(device);
  if (problem_.empty()) problem_ = configure();
  if (problem_.empty()) problem_ = make_image();
  if (!problem_.empty()) stop();
}

PmSampler::~PmSampler() { stop(); }

std::string PmSampler::prepare(std::uint32_t device) {
  pm::ChipName chip{.device = device};
  if (const int status = call_.chip_name(&chip); status != result::success || chip.name == nullptr)
    return cupti::pm_refusal(call_, status, "identifying the chip of " + name_);
  chip_ = chip.name;
  const std::string asking = "asking for the counters of " + name_;
  pm::Availability available{.device = device};
  if (const int status = call_.availability(&available); status != result::success)
    return cupti::pm_refusal(call_, status, asking);
  availability_.resize(available.bytes);
  available.image = availability_.data();
  if (const int status = call_.availability(&available); status != result::success)
    return cupti::pm_refusal(call_, status, asking);
  selection_ = select_pm_metrics(call_, chip_, availability_);
  if (selection_.status != result::success)
    return cupti::pm_refusal(call_, selection_.status, "describing the chip " + chip_);
  if (selection_.names.empty())
    return format("CUPTI offers no counter for {} ({}) that fits into one pass", name_, chip_);
  pm::Enable enable{.device = device};
  if (const int status = call_.enable(&enable); status != result::success)
    return cupti::pm_refusal(call_, status, "reserving the counters of " + name_);
  sampler_ = enable.sampler;
  return {};
}

std::string PmSampler::configure() {
  const auto config = selection_.host->config();
  pm::SetConfig request{.sampler = sampler_,
                        .config_bytes = config.size(),
                        .config = config.data(),
                        .hardware_bytes = hardware_bytes,
                        .interval = period_ns_,
                        .trigger = trigger_of(chip_),
                        .append = append_of(chip_)};
  if (const int status = call_.set_config(&request); status != result::success)
    return cupti::pm_refusal(call_, status, "setting up the counters of " + name_);
  return {};
}

std::string PmSampler::make_image() {
  std::vector<const char*> names = selection_.metrics;
  pm::DataSize size{
      .sampler = sampler_, .names = names.data(), .count = names.size(), .most_samples = samples_per_image};
  if (const int status = call_.data_size(&size); status != result::success)
    return cupti::pm_refusal(call_, status, "determining the size of the samples of " + name_);
  image_.resize(size.bytes);
  values_.resize(names.size());
  pm::Sampler start{.sampler = sampler_};
  if (!clear_image()) return format("CUPTI refused a buffer for the samples of {}", name_);
  if (const int status = call_.start(&start); status != result::success)
    return cupti::pm_refusal(call_, status, "starting the counters of " + name_);
  running_ = true;
  return {};
}

bool PmSampler::clear_image() {
  pm::DataImage request{.sampler = sampler_, .bytes = image_.size(), .image = image_.data()};
  return call_.data_image(&request) == result::success;
}

std::optional<PmSampler::Decoded> PmSampler::decode() {
  pm::Decode request{.sampler = sampler_, .image = image_.data(), .bytes = image_.size()};
  const int status = call_.decode(&request);
  if (status == result::success || status == result::out_of_memory)
    return Decoded{.stopped = request.stopped,
                   .overflowed = request.overflowed != 0 || status == result::out_of_memory};
  problem_ = cupti::pm_refusal(call_, status, "reading the counters of " + name_);
  return std::nullopt;
}

void PmSampler::drain(const Take& take) {
  for (int round = 0; round < most_decodes && problem_.empty() && sampler_ != nullptr; ++round) {
    const auto decoded = decode();
    if (!decoded) return;
    overflowed_ = overflowed_ || decoded->overflowed;
    const std::size_t taken = take_all(take);
    if (!clear_image()) problem_ = format("CUPTI withdrew the buffer for the samples of {}", name_);
    if (running_ && decoded->overflowed && append_of(chip_) == pm::Append::keep_oldest) return restart();
    // CUPTI stops for other reasons, too, and more is left then (pytorch/kineto pull request 1532).
    const bool may_be_more = decoded->stopped == pm::Stopped::other && taken > 0;
    if (decoded->stopped != pm::Stopped::image_full && !may_be_more) return;
  }
}

std::size_t PmSampler::take_all(const Take& take) {
  pm::DataInfo info{.image = image_.data(), .bytes = image_.size()};
  if (call_.data_info(&info) != result::success) {
    ++dropped_;
    return 0;
  }
  for (std::size_t index = 0; index < info.completed; ++index) take_one(take, index);
  return info.completed;
}

void PmSampler::take_one(const Take& take, std::size_t index) {
  pm::SampleInfo info{.sampler = sampler_, .image = image_.data(), .bytes = image_.size(), .sample = index};
  std::vector<const char*>& names = selection_.metrics;
  pm::Evaluate evaluate{.host = selection_.host->handle(),
                        .image = image_.data(),
                        .bytes = image_.size(),
                        .sample = index,
                        .names = names.data(),
                        .count = names.size(),
                        .values = values_.data()};
  if (call_.sample_info(&info) != result::success || call_.evaluate(&evaluate) != result::success) {
    ++dropped_;
    return;
  }
  const PmSample sample{.begin_ns = static_cast<std::int64_t>(info.begin),
                        .end_ns = static_cast<std::int64_t>(info.end),
                        .values = values_};
  note_gap(sample);
  if (std::exchange(first_, false)) return;
  dropped_ +=
      static_cast<std::uint64_t>(std::ranges::count_if(values_, [](double value) { return !std::isfinite(value); }));
  take(sample);
}

/// A buffer that was full tells that samples are missing, the next sample how many.
void PmSampler::note_gap(const PmSample& sample) {
  const std::int64_t gap = last_end_ns_ == 0 ? 0 : sample.begin_ns - last_end_ns_;
  last_end_ns_ = sample.end_ns;
  const auto missing = (static_cast<std::uint64_t>(std::max<std::int64_t>(gap, 0)) + period_ns_ / 2) / period_ns_;
  if (!overflowed_ || missing == 0) return;
  dropped_ += missing;
  overflowed_ = false;
}

/// A buffer that keeps the oldest samples takes no more once it is full.
void PmSampler::restart() {
  pm::Sampler request{.sampler = sampler_};
  call_.stop(&request);
  first_ = true;
  if (const int status = call_.start(&request); status != result::success)
    problem_ = cupti::pm_refusal(call_, status, "restarting the counters of " + name_);
}

void PmSampler::finish(const Take& take) {
  if (sampler_ == nullptr) return;
  pm::Sampler request{.sampler = sampler_};
  if (std::exchange(running_, false)) call_.stop(&request);
  drain(take);
  if (std::exchange(overflowed_, false)) ++dropped_;  // how many is not known
  stop();
}

void PmSampler::stop() {
  pm::Sampler request{.sampler = sampler_};
  if (std::exchange(running_, false)) call_.stop(&request);
  if (std::exchange(sampler_, nullptr) != nullptr) call_.disable(&request);
  selection_.host.reset();
}

}  // namespace rankscope::collectors
