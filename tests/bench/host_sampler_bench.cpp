// Cost of one host sample.
#include <benchmark/benchmark.h>

#include "host/sampler.h"

namespace {

using rankscope::collectors::HostSampler;
using rankscope::collectors::Pressure;

void sample_with_pressure(benchmark::State& state) {
  HostSampler sampler{HostSampler::own_process, Pressure::sample};
  for ([[maybe_unused]] const auto turn : state) benchmark::DoNotOptimize(sampler.sample());
}
BENCHMARK(sample_with_pressure)->Unit(benchmark::kMicrosecond);

void sample_without_pressure(benchmark::State& state) {
  HostSampler sampler{HostSampler::own_process, Pressure::skip};
  for ([[maybe_unused]] const auto turn : state) benchmark::DoNotOptimize(sampler.sample());
}
BENCHMARK(sample_without_pressure)->Unit(benchmark::kMicrosecond);

}  // namespace
