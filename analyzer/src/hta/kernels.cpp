// HTA's kernel table (metrics.md 19.5): the longest kernels, and "others".
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "hta/find.h"
#include "rankscope/core/model/run.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t most_kernels = 10;
constexpr double share_kept = 0.8;
constexpr std::string_view others = "others";

/// A value and how often it came.
struct Sample {
  std::int64_t ns = 0;
  std::int64_t times = 1;
};
using Samples = std::vector<Sample>;

std::int64_t count_of(const Samples& samples) {
  std::int64_t count = 0;
  for (const Sample& sample : samples) count += sample.times;
  return count;
}

std::int64_t sum_of(const Samples& samples) {
  std::int64_t sum = 0;
  for (const Sample& sample : samples) sum += sample.times * sample.ns;
  return sum;
}

HtaStatistics statistics_of(const Samples& samples) {
  HtaStatistics all;
  if (samples.empty()) return all;
  const auto [min, max] = std::ranges::minmax(samples, {}, &Sample::ns);
  const auto count = static_cast<double>(count_of(samples));
  all.min_ns = min.ns;
  all.max_ns = max.ns;
  all.mean_ns = static_cast<double>(sum_of(samples)) / count;
  double squares = 0;
  for (const Sample& sample : samples) {
    const double distance = static_cast<double>(sample.ns) - all.mean_ns;
    squares += static_cast<double>(sample.times) * distance * distance;
  }
  if (count > 1) all.stddev_ns = std::sqrt(squares / (count - 1));
  return all;
}

struct Kernel {
  std::string name;
  std::int64_t sum_ns = 0;
  Samples hta{};
  Samples own{};
};

/// Kernels of one class by name, the largest sum first.
std::vector<Kernel> kernels_of(const Run& run, const HtaRows& rows, HtaNames& names, HtaClass kind) {
  std::map<StringId, Kernel> by_name;
  for (const HtaRow& row : rows.device) {
    if (row.copies == 0 || names.of(row.name).kind != kind) continue;
    Kernel& kernel = by_name[row.name];
    kernel.hta.push_back({row.length_ns(), row.copies});
    kernel.own.push_back({run.span(row.span).time.length().count(), 1});
  }
  std::vector<Kernel> kernels;
  for (auto& [name, kernel] : by_name) {
    kernel.name = names.text(name);
    kernel.sum_ns = sum_of(kernel.hta);
    kernels.push_back(std::move(kernel));
  }
  std::ranges::sort(kernels, {}, [](const Kernel& kernel) { return std::tuple{-kernel.sum_ns, kernel.name}; });
  return kernels;
}

/// The running sum beyond which a kernel is one of the others: its own 0.8 quantile, linear between neighbours.
double limit_of(const std::vector<Kernel>& kernels) {
  std::vector<double> running;
  double sum = 0;
  for (const Kernel& kernel : kernels) running.push_back(sum += static_cast<double>(kernel.sum_ns));
  std::ranges::sort(running);
  const double place = share_kept * static_cast<double>(running.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, running.size() - 1);
  return running[below] + (place - static_cast<double>(below)) * (running[above] - running[below]);
}

/// HTA groups its table a second time, by sums: of a kernel that stays, the sum becomes its max, min and mean.
std::vector<Kernel> shortened(std::vector<Kernel> kernels) {
  if (kernels.size() <= most_kernels) return kernels;
  const double limit = limit_of(kernels);
  std::vector<Kernel> shown;
  Kernel rest{.name = std::string{others}};
  std::int64_t running = 0;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    Kernel& kernel = kernels[i];
    running += kernel.sum_ns;
    kernel.hta = {{kernel.sum_ns, 1}};
    if (i < most_kernels && static_cast<double>(running) <= limit) {
      shown.push_back(std::move(kernel));
      continue;
    }
    rest.sum_ns += kernel.sum_ns;
    rest.hta.push_back({kernel.sum_ns, 1});
    rest.own.insert(rest.own.end(), kernel.own.begin(), kernel.own.end());
  }
  shown.push_back(std::move(rest));
  return shown;
}

}  // namespace

std::vector<HtaKernel> hta_kernels(const Run& run, const HtaRows& rows, HtaNames& names) {
  std::vector<HtaKernel> table;
  for (const HtaClass kind : {HtaClass::computation, HtaClass::communication})
    for (Kernel& kernel : shortened(kernels_of(run, rows, names, kind)))
      table.push_back({.name = std::move(kernel.name),
                       .kind = kind,
                       .sum_ns = kernel.sum_ns,
                       .hta = statistics_of(kernel.hta),
                       .own_count = count_of(kernel.own),
                       .own = statistics_of(kernel.own)});
  return table;
}

}  // namespace rankscope::analyzer
