// HTA's launch statistics (metrics.md 19.7).
#include <algorithm>

#include "hta/find.h"

namespace rankscope::analyzer {
namespace {

constexpr std::int64_t slow_call_ns = 50'000;
constexpr std::int64_t long_delay_ns = 100'000;

void add(const HtaRow& call, const HtaRow& work, HtaLaunches& sum) {
  const std::int64_t pairs = call.copies * work.copies;
  const std::int64_t delay = std::max<std::int64_t>(0, work.begin_ns - call.end_ns);
  sum.count += pairs;
  sum.cpu_ns += pairs * call.length_ns();
  sum.gpu_ns += pairs * work.length_ns();
  sum.delay_ns += pairs * delay;
  if (call.length_ns() <= slow_call_ns && work.length_ns() < call.length_ns()) sum.short_kernels += pairs;
  if (call.length_ns() > slow_call_ns) sum.runtime_outliers += pairs;
  if (delay > long_delay_ns) sum.delay_outliers += pairs;
}

}  // namespace

HtaLaunches hta_launches(const HtaRows& rows, HtaNames& names) {
  HtaLaunches sum;
  for (const HtaRow& work : rows.device) {
    if (work.copies == 0 || work.correlation < 0) continue;
    const auto calls = rows.host_of(work.correlation);
    const bool launched =
        std::ranges::any_of(calls, [&](const HtaRow& call) { return call.copies > 0 && names.of(call.name).launch; });
    if (!launched) continue;
    for (const HtaRow& call : calls) add(call, work, sum);
  }
  return sum;
}

}  // namespace rankscope::analyzer
