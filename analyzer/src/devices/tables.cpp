#include "devices/parts.h"
#include "split/parts.h"

#include <algorithm>
#include <map>
#include <set>

#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/words.h"
#include "words/units.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t most_shown = 16;  // ranks, where --top asks for less

struct Line {
  RankId rank;
  const DeviceRow* device;
};

std::string share_cell(const Ratio& ratio) {
  return ratio.value ? percent_text(*ratio.value) : std::string{empty_cell};
}

/// "80 % power cap": of several reasons the main one.
std::string throttled_cell(const Throttling& throttling) {
  const auto main = throttling.main_reason();
  return main ? format("{} {}", percent_text(throttling.share), words_of(main->reason)) : std::string{"no"};
}

template <auto field>
std::string nvml_share(const DeviceRow& device) {
  return device.nvml ? share_cell((*device.nvml).*field) : std::string{empty_cell};
}
template <auto field>
std::string pm_share(const DeviceRow& device) {
  return device.pm ? share_cell((*device.pm).*field) : std::string{empty_cell};
}
template <auto field, auto which>
std::string nvml_number(const DeviceRow& device) {
  if (!device.nvml || !((*device.nvml).*field)) return std::string{empty_cell};
  return format("{:.0f}", (*((*device.nvml).*field)).*which);
}
std::string throttled(const DeviceRow& device) {
  return device.nvml && device.nvml->throttling ? throttled_cell(*device.nvml->throttling) : std::string{empty_cell};
}

struct Part {
  Column column;
  std::string (*cell)(const DeviceRow& device);
};

/// Those that some device has.
std::vector<Part> parts_of(const std::vector<Line>& lines) {
  std::vector<Part> parts{
      {{"busy"}, nvml_share<&NvmlCounters::busy>},
      {{"SM"}, pm_share<&PmCounters::sm_active>},
      {{"tensor"}, pm_share<&PmCounters::tensor_active>},
      {{"read"}, pm_share<&PmCounters::dram_read>},
      {{"write"}, pm_share<&PmCounters::dram_write>},
      {{"MHz"}, nvml_number<&NvmlCounters::sm_clock_mhz, &Spread::median>},
      {{"W"}, nvml_number<&NvmlCounters::power_watts, &Spread::median>},
      {{"°C"}, nvml_number<&NvmlCounters::temperature_celsius, &Spread::most>},
      {{"throttled", Align::left}, throttled},
  };
  std::erase_if(parts, [&](const Part& part) {
    return std::ranges::all_of(lines, [&](const Line& line) { return part.cell(*line.device) == empty_cell; });
  });
  return parts;
}

Table table_of(const std::vector<Line>& lines, const std::vector<Part>& parts) {
  Table table{{{"rank"}, {"GPU"}, {"device", Align::left, 16}}, {}};
  for (const Part& part : parts) table.columns.push_back(part.column);
  for (const Line& line : lines) {
    const DeviceRow& device = *line.device;
    std::vector<Cell> cells{{format("{}", line.rank.value)},
                            {device.ordinal < 0 ? std::string{empty_cell} : format("{}", device.ordinal)},
                            {device.name.empty() ? std::string{empty_cell} : printable(device.name)}};
    for (const Part& part : parts) cells.push_back({part.cell(device)});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string legend(const std::vector<Part>& parts) {
  const auto has = [&parts](std::string_view title) {
    return std::ranges::any_of(parts, [title](const Part& part) { return part.column.title == title; });
  };
  std::string text;
  if (has("busy"))
    text +=
        "Busy: the share of the time in which NVML saw the device busy. NCCL kernels that only wait count as busy, so "
        "busy time beyond the compute time of the rank may be waiting. ";
  std::string own;
  for (const char* const title : {"SM", "tensor", "read", "write"})
    if (has(title)) own += (own.empty() ? "" : ", ") + std::string{title};
  if (!own.empty())
    text += own + ": measured by the GPU's own counters" +
            (has("read") || has("write") ? "; read and write are shares of the memory bandwidth. " : ". ");
  if (has("MHz") || has("W")) text += "MHz (clock of the SMs) and W are medians; °C is the highest value. ";
  if (has("throttled"))
    text += "Throttled: the share of the samples in which the clock was reduced, and the most frequent reason. ";
  if (!text.empty()) text.pop_back();
  return text;
}

std::string joules_text(double joules) {
  constexpr double kilo = 1e3;
  constexpr double mega = 1e6;
  if (joules < kilo) return format("{:.0f} J", joules);
  return joules < mega ? format("{:.3g} kJ", joules / kilo) : format("{:.3g} MJ", joules / mega);
}

std::string energy_note(const std::vector<Line>& lines) {
  double joules = 0;
  std::set<std::string_view> gpus;  // ranks may share one
  for (const Line& line : lines) {
    const DeviceRow& device = *line.device;
    if (device.nvml && device.nvml->energy_joules.value && gpus.insert(device.uuid).second)
      joules += *device.nvml->energy_joules.value;
  }
  return gpus.empty() ? std::string{} : format("Energy of {}: {}.", counted(gpus.size(), "GPU"), joules_text(joules));
}

std::string errors_note(const std::vector<Line>& lines) {
  std::string text;
  for (const Line& line : lines) {
    if (!line.device->nvml) continue;
    const double errors = line.device->nvml->ecc_uncorrected_errors.value.value_or(0);
    if (errors <= 0) continue;
    if (!text.empty()) text += "; ";
    text += format("rank {}, GPU {}: {:.0f}", line.rank.value, line.device->ordinal, errors);
  }
  return text.empty() ? text : format("Memory errors that ECC could not correct: {}.", text);
}

/// Whose NVML counters are missing where others have them, by reason.
std::vector<std::string> missing_notes(const std::vector<Line>& lines) {
  std::map<std::string, std::vector<RankId>> missing;
  bool any = false;
  for (const Line& line : lines) {
    any = any || line.device->nvml.has_value();
    if (line.device->nvml) continue;
    std::vector<RankId>& ranks = missing[line.device->nvml.error().why];
    if (ranks.empty() || ranks.back() != line.rank) ranks.push_back(line.rank);
  }
  std::vector<std::string> notes;
  if (!any) return notes;
  for (const auto& [why, ranks] : missing)
    notes.push_back(format("NVML counters are missing for {}: {}.", ranks_text(ranks), printable(why)));
  return notes;
}

}  // namespace

std::vector<NotedTable> device_tables(const Report& report, std::size_t most) {
  if (!report.rank_rows) return {};
  std::vector<Line> all;
  for (const RankRow& row : *report.rank_rows)
    for (const DeviceRow& device : row.devices) all.push_back({row.rank, &device});
  if (std::ranges::none_of(all, [](const Line& line) { return line.device->nvml || line.device->pm; })) return {};
  std::vector<Line> shown;
  const RankRows ranks = rows_to_show(report, std::max(most_shown, most));
  for (const RankRow* const row : ranks)
    for (const DeviceRow& device : row->devices) shown.push_back({row->rank, &device});
  const std::vector<Part> parts = parts_of(shown);
  if (parts.empty()) return {};
  const bool steps = std::ranges::any_of(ranks, [](const RankRow* row) { return !row->per_step.empty(); });
  NotedTable noted{.title = "Devices",
                   .what = steps ? "of the counted steps" : "of the whole recording",
                   .table = table_of(shown, parts),
                   .left_out = {all.size() - shown.size(), report.rank_rows->size()}};
  noted.notes.push_back(legend(parts));
  for (std::string& note : missing_notes(all)) noted.notes.push_back(std::move(note));
  noted.notes.push_back(errors_note(all));
  noted.notes.push_back(energy_note(all));
  std::erase_if(noted.notes, [](const std::string& note) { return note.empty(); });
  return {std::move(noted)};
}

}  // namespace rankscope::analyzer
