#include "engine/device_times.h"

#include "rankscope/core/format.h"
#include "rankscope/trainer/device_use.h"
#include "rankscope/trainer/log.h"

namespace rankscope::trainer {

void DeviceTimes::begin() { begun_ = cpu_time_of(CLOCK_THREAD_CPUTIME_ID); }

Result<void> DeviceTimes::tell(const WorkerPlan& plan, const Worker& worker) const {
  if (plan.place.gpu) return {};  // a thread's CPU time is not what its GPU has computed
  std::vector<std::chrono::nanoseconds> times = worker.device_times();
  if (times.empty()) times.push_back(cpu_time_of(CLOCK_THREAD_CPUTIME_ID) - begun_);
  std::vector<double> seconds;
  std::string noted;
  for (const auto time : times) {
    seconds.push_back(std::chrono::duration<double>(time).count());
    noted += format("{}{:.3f}", noted.empty() ? "" : ",", seconds.back());
  }
  note("device_cpu_seconds", noted);
  const auto devices = static_cast<std::int64_t>(seconds.size());
  at::Tensor all = at::tensor(seconds, at::kDouble);
  if (plan.everybody != nullptr) {
    const at::Tensor own = all;
    all = at::zeros({plan.place.world_size * devices}, at::kDouble);
    RS_TRY_VOID(plan.everybody->allgather_flat(all, own, "device times").wait());
  }
  if (plan.place.rank != 0 || all.numel() < 2) return {};
  std::vector<DeviceTime> uses;
  for (std::int64_t i = 0; i < all.numel(); ++i)
    uses.push_back({static_cast<int>(i / devices), static_cast<int>(i % devices), all[i].item<double>()});
  if (const std::string unused = unused_text(uses); !unused.empty()) {
    log_error(unused);
  } else {
    log_progress(use_text(uses));
  }
  return {};
}

}  // namespace rankscope::trainer
