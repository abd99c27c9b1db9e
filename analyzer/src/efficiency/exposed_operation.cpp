#include "efficiency/exposed_operation.h"

#include <algorithm>
#include <array>
#include <map>

#include "rankscope/analyzer/words.h"
#include "words/letters.h"

namespace rankscope::analyzer {
namespace {

struct KnownOperation {
  std::string_view part;  ///< of its plain name; the first that fits
  std::string_view name;
  CommUse use;
};
constexpr std::array<KnownOperation, 9> known_operations{{
    {"reducescatter", "reduce-scatter", CommUse::reduction},
    {"allreduce", "all-reduce", CommUse::reduction},
    {"allgather", "all-gather", CommUse::gathering},
    {"alltoall", "all-to-all", CommUse::exchange},
    {"send", "send and receive", CommUse::exchange},
    {"recv", "send and receive", CommUse::exchange},
    {"dispatch", "dispatch and combine", CommUse::exchange},  // DeepEP, MORI
    {"combine", "dispatch and combine", CommUse::exchange},
    {"broadcast", "broadcast", CommUse::other},
}};

}  // namespace

ExposedOperation operation_named(std::string_view name) {
  const std::string plain = plain_letters(short_kernel_name(name));
  const auto* const found = std::ranges::find_if(
      known_operations, [&plain](const KnownOperation& known) { return plain.find(known.part) != plain.npos; });
  return found == known_operations.end() ? ExposedOperation{} : ExposedOperation{found->name, found->use, 0};
}

ExposedOperation most_exposed(const OverlapSection& section) {
  std::map<std::string_view, ExposedOperation> sums;
  for (const OverlapRow& row : section.rows) {
    const ExposedOperation operation = operation_named(row.op);
    sums.try_emplace(operation.name, operation).first->second.exposed_ns += row.exposed_ns();
  }
  if (sums.empty()) return {};
  return std::ranges::max_element(sums, {}, [](const auto& entry) { return entry.second.exposed_ns; })->second;
}

std::string_view advice_to_hide(CommUse use) {
  switch (use) {
    case CommUse::reduction:
      return "Overlap it with compute: smaller or earlier buckets, asynchronous handles; or move fewer bytes (lower "
             "precision, gradient accumulation).";
    case CommUse::gathering:
      return "Overlap it with compute: prefetch what is gathered one layer earlier (in FSDP forward_prefetch, "
             "backward_prefetch); or move fewer bytes (lower precision, gather once per step).";
    case CommUse::exchange:
      return "Overlap it with other work: split it into chunks, and transfer one while the device works on another; or "
             "move fewer bytes (lower precision).";
    case CommUse::other:
      return "Overlap it with compute: start it earlier, with asynchronous handles; or move fewer bytes (lower "
             "precision).";
  }
  return {};
}

}  // namespace rankscope::analyzer
