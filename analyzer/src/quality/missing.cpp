#include "quality/parts.h"

#include <algorithm>
#include <array>

#include "rankscope/analyzer/render.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"
#include "render/words.h"
#include "verdict/doubts.h"
#include "words/letters.h"
#include "words/source_advice.h"

namespace rankscope::analyzer {
namespace {

constexpr std::string_view let_it_run =
    "The command was ended by a signal before its first step was complete: record again and let it run longer.";
constexpr std::string_view let_it_run_or_mark =
    "The command was ended by a signal, perhaps before its first step: record again and let it run longer. If the "
    "program does not mark its steps at all, mark each step with an NVTX range or with the annotation API.";
constexpr std::string_view longer_duration =
    "The recording ended after the time given by --duration, before a step was complete: record again with a longer "
    "--duration, or without it.";
constexpr std::string_view collect_marks =
    "Steps are marked by NVTX ranges or the annotation API, but --collect left out both: record again with annotate or "
    "nvtx in --collect, or without --collect.";

bool lists(std::string_view list, std::string_view id) {
  while (!list.empty()) {
    if (list.substr(0, list.find(',')) == id) return true;
    list.remove_prefix(std::min(list.size(), list.substr(0, list.find(',')).size() + 1));
  }
  return false;
}

/// Where the recorder was told to leave out what marks steps, the program needs no other marks.
std::string_view advice_on_steps(const Report& report) {
  const std::string_view collect = fact(report, "collect");
  const bool marks = lists(collect, "annotate") || lists(collect, "nvtx") || lists(collect, "all");
  if (!collect.empty() && !marks) return collect_marks;
  if (fact(report, "stopped_by") == "duration") return longer_duration;
  const std::int64_t status = number_from<std::int64_t>(fact(report, "exit_status")).value_or(0);
  constexpr std::int64_t first_signal = 128;
  if (status <= first_signal)
    return advice_for(report.uses_pytorch ? Wanted::steps_of_pytorch : Wanted::steps, advice_source(report));
  return fact(report, "role") == "trainer" ? let_it_run : let_it_run_or_mark;
}

/// One detail of events: how `record` calls it, and the argument of torch.profiler.profile that asks for it.
struct Detail {
  std::string_view id;
  std::string_view what;
  std::string_view of_torch;
};
constexpr std::array<Detail, 4> details{{{"shapes", "operator inputs", "record_shapes"},
                                         {"memory", "allocations", "profile_memory"},
                                         {"stack", "call contexts", "with_stack"},
                                         {"modules", "modules", "with_modules"}}};

/// What `record` and `train` record only on request. Recordings that do not tell what was asked for are left alone.
void add_own_details(const Report& report, std::vector<MissingSection>& missing) {
  const std::string_view asked = fact(report, "details_asked");
  const std::string_view recorded = fact(report, "details_recorded");
  if (asked.empty()) return;
  std::string off;
  std::string without_source;
  for (const Detail& detail : details) {
    if (lists(recorded, detail.id)) continue;
    std::string& list = lists(asked, detail.id) ? without_source : off;
    list += format("{}{} (--{})", list.empty() ? "" : ", ", detail.what, detail.id);
  }
  if (!off.empty())
    missing.push_back({std::string{details_name}, "not enabled: " + off,
                       "Recording these details costs time; see rankscope record --help."});
  if (!without_source.empty())
    missing.push_back(
        {std::string{details_name}, "enabled, but nothing in the program recorded them: " + without_source, ""});
}

/// True if the recording holds such details, whatever it says of them.
bool is_there(const Report& report, const Detail& detail) {
  if (detail.id == "memory")
    return report.memory && std::ranges::any_of(report.memory->devices, [](const DeviceMemory& memory) {
             return memory.allocated.bytes.has_value();
           });
  if (!report.operators) return false;
  if (detail.id == "shapes")
    return std::ranges::any_of(report.operators->operators.rows,
                               [](const OperatorRow& row) { return !row.shapes.empty(); });
  return detail.id == "modules" && std::ranges::any_of(report.operators->annotations.rows, [](const OperatorRow& row) {
           return row.name.starts_with("nn.Module: ");
         });
}

/// The same of torch.profiler, which notes only what it was asked for.
void add_details_of_torch(const Report& report, std::vector<MissingSection>& missing) {
  std::string off;
  for (const Detail& detail : details) {
    if (fact(report, detail.of_torch) == "1" || is_there(report, detail)) continue;
    off += format("{}{} ({}=True)", off.empty() ? "" : ", ", detail.what, detail.of_torch);
  }
  if (!off.empty())
    missing.push_back({std::string{details_name}, "apparently not enabled when the traces were made: " + off,
                       "Recording these details costs time; they are enabled by arguments of torch.profiler.profile."});
}

/// True if any communication ran in NCCL or RCCL, whose kernels have the same names.
bool uses_nccl(const Report& report) {
  return report.overlap && std::ranges::any_of(report.overlap->rows, [](const OverlapRow& row) {
           return lower(row.op).find("nccl") != std::string::npos;
         });
}

}  // namespace

std::string remedy_for_steps(const Report& report) { return std::string{advice_on_steps(report)}; }

std::string remedy_for_ranks(const Report& report) {
  return std::string{advice_for(Wanted::time_of_ranks, advice_source(report))};
}

std::string remedy_for_memory(const Report& report) {
  return std::string{advice_for(Wanted::memory, advice_source(report))};
}

std::string remedy_for_stragglers(const Report& report) {
  if (!report.why_not_compared.empty()) return std::string{advice_for(Wanted::comparison, advice_source(report))};
  if (report.ranks.size() < 2) return std::string{advice_for(Wanted::all_ranks, advice_source(report))};
  return report.steps ? std::string{} : remedy_for_steps(report);
}

std::string remedy_for_collectives(const Report& report) {
  // No version of PyTorch writes the groups of Gloo's operations.
  const bool groups_of_gloo = report.source == "kineto" && fact(report, "backend") == "gloo";
  if (groups_of_gloo || !report.why_not_compared.empty())
    return std::string{advice_for(Wanted::comparison, advice_source(report))};
  const std::string_view groups = uses_nccl(report) ? advice_for(Wanted::groups_of_nccl, advice_source(report)) : "";
  return format("{}{}{}", advice_for(Wanted::collectives, advice_source(report)), groups.empty() ? "" : " ", groups);
}

std::string remedy_beside_finding(const Report& report, std::string_view id) {
  const bool of_collectives = id == section_id::collectives && report.source == "kineto";
  const bool repeats = of_collectives || (id == section_id::stragglers && report.ranks.size() < 2);
  if (!repeats || !counts(report, Counter::ranks_missing)) return remedy_for(report, id);
  if (!of_collectives || !uses_nccl(report)) return {};
  return std::string{advice_for(Wanted::groups_of_nccl, advice_source(report))};
}

std::vector<MissingSection> missing_sections(const Report& report) {
  std::vector<MissingSection> missing;
  for (const SectionInfo& section : sections())
    if (const std::string why = why_missed(report, section.id); !why.empty())
      missing.push_back({std::string{section.title}, printable(why), remedy_for(report, section.id)});
  add_own_details(report, missing);
  if (report.source == "kineto") add_details_of_torch(report, missing);
  for (auto row = missing.begin(); row != missing.end(); ++row) {  // each remedy once
    const auto earlier =
        std::find_if(missing.begin(), row, [&](const auto& other) { return other.remedy == row->remedy; });
    if (earlier != row) row->remedy = {};
  }
  return missing;
}

}  // namespace rankscope::analyzer
