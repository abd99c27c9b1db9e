// What is wrong with memory (metrics.md 14): nearly full, held unused, uneven, growing.

#include <cmath>
#include <set>

#include "memory/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "rules/severity.h"
#include "steps/parts.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr const char* no_gain =
    "memory does not change the step time; it decides whether the job runs and how large its batches can be";
constexpr std::int64_t least_bytes = 64LL << 20;  // below that neither imbalance nor growth hurts anybody
constexpr double least_growth = 0.05;             // of the median peak, over all counted steps
constexpr double least_host_growth = 0.10;        // resident memory holds caches, too
constexpr std::int64_t soon = 10;                 // times the recorded steps

/// Of what is left: the less, the worse.
FindingSeverity severity_of_left(double share) {
  if (share < memory_left_limits.critical) return FindingSeverity::critical;
  if (share < memory_left_limits.major) return FindingSeverity::major;
  return share < memory_left_limits.minor ? FindingSeverity::minor : FindingSeverity::info;
}

std::string name_of(const DeviceMemory& memory) {
  if (memory.kind == MemoryKind::host) return format("rank {}, memory of the host", memory.rank.value);
  return format("rank {}, device {}", memory.rank.value, memory.device);
}

std::string place_of(const AllocationPlace& place) {
  if (!place.op.empty()) return place.outer.empty() ? place.op : format("{} in {}", place.op, place.outer);
  return place.range;
}

std::string when(const MemoryPeak& peak) {
  std::string text = peak.step ? format(" in step {}", *peak.step) : std::string{};
  if (const std::string place = place_of(peak.place); !place.empty())
    text += format(" (peak reached during an allocation for {})", place);
  return text;
}

std::string percent(double share) { return format("{:.1f} %", share * 100); }

/// The worst of several, and on how many other ranks it is the same.
struct Worst {
  const DeviceMemory* memory = nullptr;
  FindingSeverity severity = FindingSeverity::info;
  double value = 0;
  std::set<RankId> ranks{};

  void take(const DeviceMemory& candidate, FindingSeverity candidate_severity, double candidate_value) {
    if (candidate_severity == FindingSeverity::info) return;
    ranks.insert(candidate.rank);
    if (memory != nullptr && candidate_value <= value) return;
    memory = &candidate;
    severity = candidate_severity;
    value = candidate_value;
  }
  [[nodiscard]] std::string others() const {
    if (ranks.size() < 2) return {};
    return format("; {} ranks are affected, this one the most", ranks.size());
  }
};

Finding finding_of(const Worst& worst, std::string_view id) {
  Finding finding;
  finding.id = id;
  finding.severity = worst.severity;
  finding.rank = worst.memory->rank;
  finding.why_no_gain = no_gain;
  return finding;
}

void add_near_limit(const std::vector<const DeviceMemory*>& devices, std::vector<Finding>& findings) {
  Worst worst;
  for (const DeviceMemory* const memory : devices) {
    if (!memory->left_bytes) continue;
    const double share = static_cast<double>(*memory->left_bytes) / static_cast<double>(*memory->total_bytes);
    worst.take(*memory, severity_of_left(share), 1 - share);
  }
  if (worst.memory == nullptr) return;
  const DeviceMemory& memory = *worst.memory;
  Finding& finding = findings.emplace_back(finding_of(worst, "memory_near_limit"));
  finding.step = memory.reserved.step;
  finding.title = format("the memory of a device is nearly full: {} of {} is left", bytes_text(*memory.left_bytes),
                         bytes_text(*memory.total_bytes));
  const std::string allocated =
      memory.allocated.bytes && !memory.changes_only
          ? format(", and allocated memory at {}{}", bytes_text(*memory.allocated.bytes), when(memory.allocated))
          : std::string{};
  finding.evidence =
      format("{}: reserved memory peaked at {}{}; memory of other processes and libraries is not counted{}",
             name_of(memory), bytes_text(*memory.reserved.bytes), allocated, worst.others());
  const bool much_unused = memory.unused.value && *memory.unused.value >= memory_unused_limits.minor;
  finding.advice =
      much_unused
          ? "Much of the memory is reserved but unused: set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and call "
            "torch.cuda.empty_cache() after phases that need more memory than the steps do."
          : "Use smaller batches with gradient accumulation, activation checkpointing or bfloat16, or shard parameters "
            "and optimizer state (FSDP, ZeRO); MEMORY lists the operators that hold the most memory.";
}

void add_fragmentation(const std::vector<const DeviceMemory*>& devices, std::vector<Finding>& findings) {
  Worst worst;
  for (const DeviceMemory* const memory : devices) {
    const bool large = memory->total_bytes && memory->reserved.bytes &&
                       static_cast<double>(*memory->reserved.bytes) > static_cast<double>(*memory->total_bytes) / 2;
    if (large && memory->unused.value)
      worst.take(*memory, severity_of(*memory->unused.value, memory_unused_limits), *memory->unused.value);
  }
  if (worst.memory == nullptr) return;
  const DeviceMemory& memory = *worst.memory;
  Finding& finding = findings.emplace_back(finding_of(worst, "memory_fragmentation"));
  finding.step = memory.reserved.step;
  finding.title = format("{} of the reserved device memory is unused", percent(worst.value));
  finding.evidence =
      format("{}: at the peak, {} of {} was reserved, of which at most {} was allocated{}", name_of(memory),
             bytes_text(*memory.reserved.bytes), bytes_text(*memory.total_bytes),
             bytes_text(std::llround((1 - worst.value) * static_cast<double>(*memory.reserved.bytes))), worst.others());
  finding.advice =
      "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; avoid tensor sizes that change from step to step (pad "
      "inputs to a few lengths); call torch.cuda.empty_cache() after evaluation or other phases that need more memory.";
}

void add_imbalance(const Report& report, const ReportOptions& options, std::vector<Finding>& findings) {
  const MemoryPeers* worst = nullptr;
  for (const MemoryPeers& peers : report.memory->peers) {
    if (!peers.imbalance.value || peers.most_bytes - peers.median_bytes < least_bytes) continue;
    if (!is_asked_for(options, peers.most)) continue;
    if (worst == nullptr || *peers.imbalance.value > *worst->imbalance.value) worst = &peers;
  }
  if (worst == nullptr) return;
  const FindingSeverity severity = severity_of(*worst->imbalance.value, memory_imbalance_limits);
  if (severity == FindingSeverity::info) return;
  Finding finding;
  finding.id = "memory_imbalance";
  // Where their layout is unknown they may be meant to differ.
  finding.severity = worst->caveat.empty() ? severity : capped(severity, FindingSeverity::minor);
  finding.rank = worst->most;
  finding.title =
      format("rank {} needs {:.2f} times the memory of its peers", worst->most.value, *worst->imbalance.value);
  finding.evidence = format("{} was allocated at the peak; the median over {} ranks is {} ({}{}{})",
                            bytes_text(worst->most_bytes), worst->ranks, bytes_text(worst->median_bytes), worst->name,
                            worst->caveat.empty() ? "" : "; ", worst->caveat);
  finding.advice =
      "The rank that needs the most memory limits the batch size of all ranks: even out sequence lengths and the "
      "number of layers per stage, and look for data that only one rank keeps (logging, evaluation, gathered states).";
  finding.why_no_gain = no_gain;
  findings.push_back(std::move(finding));
}

/// Grows more than chance explains, has not levelled off, and matters.
bool leaks(const MemoryGrowth& growth, double least) {
  return growth.lasts && growth.grown_bytes >= least_bytes &&
         static_cast<double>(growth.grown_bytes) >= least * static_cast<double>(growth.median_bytes);
}

std::string growth_words(const MemoryGrowth& growth) {
  const std::string p = growth.p < 1e-4 ? "< 0.0001" : format("= {:.4f}", growth.p);
  std::string text = format("growth of {} per step over {} steps without levelling off (Theil-Sen; Mann-Kendall p {})",
                            bytes_text(std::llround(*growth.bytes_per_step)), growth.steps, p);
  if (growth.steps_to_limit)
    text += format("; the device is full after {}", counted(*growth.steps_to_limit, "more step"));
  return text;
}

void add_growth(const std::vector<const DeviceMemory*>& devices, std::vector<Finding>& findings) {
  Worst worst;
  for (const DeviceMemory* const memory : devices) {
    if (!leaks(memory->growth, least_growth)) continue;
    const bool near = memory->growth.steps_to_limit && *memory->growth.steps_to_limit < soon * memory->growth.steps;
    worst.take(*memory, near ? FindingSeverity::major : FindingSeverity::minor, *memory->growth.bytes_per_step);
  }
  if (worst.memory == nullptr) return;
  Finding& finding = findings.emplace_back(finding_of(worst, "memory_growth"));
  finding.title = "memory grows from step to step: a leak is likely";
  finding.evidence = format("{}: {}{}", name_of(*worst.memory), growth_words(worst.memory->growth), worst.others());
  finding.advice =
      worst.memory->kind == MemoryKind::host
          ? "Look for host tensors that outlive their step: batches, labels and outputs (.cpu()) kept in lists, losses "
            "summed without .item(); tracemalloc and the table ALLOCATIONS show where they come from."
          : "Look for tensors that outlive their step: losses summed without .item() or .detach(), lists of outputs, "
            "hooks, retain_graph=True; torch.cuda.memory._snapshot() shows where the remaining blocks were allocated.";
}

void add_host_growth(const Report& report, const ReportOptions& options, std::vector<Finding>& findings) {
  const HostMemory* worst = nullptr;
  std::size_t count = 0;
  for (const HostMemory& host : report.memory->hosts) {
    if (!is_asked_for(options, host.rank) || !leaks(host.growth, least_host_growth)) continue;
    ++count;
    if (worst == nullptr || *host.growth.bytes_per_step > *worst->growth.bytes_per_step) worst = &host;
  }
  if (worst == nullptr) return;
  Finding finding;
  finding.id = "memory_growth.host";
  finding.severity = FindingSeverity::minor;
  finding.rank = worst->rank;
  finding.title = "memory of the host grows from step to step: a leak is likely";
  finding.evidence = format("rank {}, resident memory of its process: {}{}", worst->rank.value,
                            growth_words(worst->growth), count < 2 ? "" : format("; {} ranks are affected", count));
  finding.advice =
      "Look for lists and caches that grow (metrics, logged tensors, Python objects that a DataLoader worker copies "
      "when it touches them), and for files that stay mapped.";
  finding.why_no_gain = no_gain;
  findings.push_back(std::move(finding));
}

}  // namespace

/// At most one finding of each sort, of the worst of the ranks asked for; it counts the others.
void judge_memory(const RuleContext& context, std::vector<Finding>& findings) {
  if (!context.report.memory) return;
  std::vector<const DeviceMemory*> devices;
  for (const DeviceMemory& memory : context.report.memory->devices)
    if (is_asked_for(context.options, memory.rank)) devices.push_back(&memory);
  add_near_limit(devices, findings);
  add_fragmentation(devices, findings);
  add_imbalance(context.report, context.options, findings);
  add_growth(devices, findings);
  add_host_growth(context.report, context.options, findings);
}

}  // namespace rankscope::analyzer
