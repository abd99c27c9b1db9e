#include "compare/findings.h"

#include <algorithm>
#include <tuple>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

bool is_same(const Finding& a, const Finding& b) {
  return std::tie(a.id, a.rank, a.subject) == std::tie(b.id, b.rank, b.subject);
}

std::vector<Finding>::const_iterator find(const std::vector<Finding>& findings, const Finding& wanted) {
  return std::ranges::find_if(findings, [&wanted](const Finding& finding) { return is_same(finding, wanted); });
}

std::vector<Finding> without(const std::vector<Finding>& findings, const std::vector<Finding>& others) {
  std::vector<Finding> left;
  std::ranges::copy_if(findings, std::back_inserter(left),
                       [&others](const Finding& finding) { return find(others, finding) == others.end(); });
  return left;
}

/// Both lists begin with the worst, so that of several findings about one subject that one is compared.
std::vector<RisenFinding> risen(const std::vector<Finding>& before, const std::vector<Finding>& now) {
  std::vector<RisenFinding> worse;
  for (auto finding = now.begin(); finding != now.end(); ++finding) {
    const auto old = find(before, *finding);
    if (old != before.end() && find(now, *finding) == finding && finding->severity > old->severity)
      worse.push_back({old->severity, *finding});
  }
  return worse;
}

}  // namespace

ComparedFindings compare_findings(const RunDigest& a, const RunDigest& b) {
  ComparedFindings result;
  for (const RunDigest* run : {&a, &b})
    if (!run->report.findings) {
      result.why_unknown = format("{}: {}", run->name.label, run->report.findings.error().why);
      return result;
    }
  result.came = without(*b.report.findings, *a.report.findings);
  result.went = without(*a.report.findings, *b.report.findings);
  result.risen = risen(*a.report.findings, *b.report.findings);
  result.in_both = static_cast<std::int64_t>(b.report.findings->size() - result.came.size());
  return result;
}

std::vector<MemoryChange> compare_memory(const RunDigest& a, const RunDigest& b) {
  std::vector<MemoryChange> rows;
  if (!a.report.memory || !b.report.memory) return rows;
  for (const DeviceMemory& one : a.report.memory->devices) {
    const auto key = [](const DeviceMemory& memory) { return std::tie(memory.rank, memory.kind, memory.device); };
    const auto other = std::ranges::find_if(b.report.memory->devices,
                                            [&](const DeviceMemory& candidate) { return key(candidate) == key(one); });
    // Growth since the begin of a recording is no size.
    if (other == b.report.memory->devices.end() || one.changes_only || other->changes_only) continue;
    const std::string what =
        one.kind == MemoryKind::host ? std::string{"allocator of the host"} : format("device {}", one.device);
    rows.push_back({format("rank {}, {}", one.rank.value, what), one.allocated.bytes, other->allocated.bytes,
                    one.reserved.bytes, other->reserved.bytes});
  }
  return rows;
}

}  // namespace rankscope::analyzer
