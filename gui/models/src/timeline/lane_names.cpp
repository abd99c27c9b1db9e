#include "rankscope/gui/models/timeline/lane_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"

namespace rankscope::gui {
namespace {

using Words = std::pair<std::string_view, std::string_view>;
constexpr std::array known_counters{Words{"rss_bytes", "Host memory (RSS)"},
                                    Words{"cpu_percent", "Host CPU"},
                                    Words{"allocated_bytes", "Allocated memory"},
                                    Words{"reserved_bytes", "Reserved memory"},
                                    Words{"sm_active_percent", "SM active"},
                                    Words{"tensor_active_percent", "Tensor cores active"},
                                    Words{"dram_read_percent", "DRAM read"},
                                    Words{"dram_write_percent", "DRAM write"},
                                    Words{"nvlink_received_bytes_per_second", "NVLink received"},
                                    Words{"nvlink_sent_bytes_per_second", "NVLink sent"}};
constexpr std::array units_in_names{"_bytes_per_second", "_percent", "_watts", "_celsius", "_mhz", "_bytes"};
constexpr std::string_view gpu = "GPU ";

/// Of the name of a thread that has its number in it: "thread 17 (pt_autograd_0)", "pt_autograd_0 17"; else all of it.
std::string with_number_behind(std::string_view name, const std::string& number) {
  const std::string before = format("thread {} (", number);
  if (name.starts_with(before) && name.ends_with(')'))
    return format("{} · {}", name.substr(before.size(), name.size() - before.size() - 1), number);
  const std::string behind = " " + number;
  if (name.ends_with(behind) && name.substr(0, name.size() - behind.size()) != "thread")
    return format("{} · {}", name.substr(0, name.size() - behind.size()), number);
  return std::string{name};
}

bool has_nccl(std::string_view name) {
  constexpr std::string_view wanted = "nccl";
  return !std::ranges::search(name, wanted, [](char a, char b) {
            return std::tolower(static_cast<unsigned char>(a)) == b;
          }).empty();
}

/// " (NCCL)" or " (communication)" if nearly all of some events of the lane, spread over the run, are communication.
std::string_view what_runs_on(const Run& run, const Lane& lane, std::size_t most_looked_at) {
  const auto spans = run.spans_of(lane);
  const std::size_t stride = std::max<std::size_t>(1, spans.size() / most_looked_at);
  std::size_t looked_at = 0;
  std::size_t communication = 0;
  bool nccl = false;
  for (std::size_t i = 0; i < spans.size(); i += stride) {
    ++looked_at;
    if (spans[i].kind != SpanKind::comm) continue;
    ++communication;
    nccl = nccl || has_nccl(run.text(spans[i].name));
  }
  if (communication == 0 || communication * 4 < looked_at * 3) return {};
  return nccl ? " (NCCL)" : " (communication)";
}

}  // namespace

bool is_of_communication(const Run& run, const Lane& lane) {
  constexpr std::size_t few = 8;  // it is asked of each lane of thousands of folded ranks
  return lane.kind == LaneKind::stream && !what_runs_on(run, lane, few).empty();
}

std::string lane_title(const Run& run, const Lane& lane) {
  constexpr std::size_t some = 32;
  const std::string_view name = run.text(lane.name);
  if (name.empty()) return format("{} {}", rankscope::name_of(lane.kind), lane.number);
  if (lane.kind == LaneKind::thread) return with_number_behind(name, format("{}", lane.number));
  if (lane.kind == LaneKind::stream) return format("{}{}", name, what_runs_on(run, lane, some));
  return std::string{name};
}

std::string_view shared_title(std::string_view title) {
  for (const std::string_view addition : {" · ", " (NCCL)", " (communication)"})
    title = title.substr(0, title.find(addition));
  return title;
}

std::string counter_title(std::string_view counter) {
  std::string front;  // "GPU 0 "
  if (counter.starts_with(gpu))
    if (const auto end = counter.find(' ', gpu.size()); end != std::string_view::npos) {
      front = counter.substr(0, end + 1);
      counter.remove_prefix(end + 1);
    }
  const auto known = std::ranges::find(known_counters, counter, &Words::first);
  if (known != known_counters.end()) return front + std::string{known->second};
  for (const std::string_view unit : units_in_names)
    if (counter.size() > unit.size() && counter.ends_with(unit)) {
      counter.remove_suffix(unit.size());
      break;
    }
  std::string title{counter};
  std::ranges::replace(title, '_', ' ');
  if (front.empty() && !title.empty()) title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return front + title;
}

bool is_of_host(std::string_view counter) { return !counter.starts_with(gpu); }

std::vector<std::string> accelerators_of(const Run& run) {
  std::vector<std::map<std::string_view, int>> models(run.processes().size());
  for (const Device& device : run.devices())
    if (device.name.is_set() && !run.text(device.name).empty()) ++models[device.process][run.text(device.name)];
  std::vector<std::string> texts;
  for (const auto& of_process : models) {
    std::string& text = texts.emplace_back();
    for (const auto& [model, count] : of_process)
      text += format("{}{}{}", text.empty() ? "" : ", ", count == 1 ? std::string{} : format("{} × ", count), model);
  }
  return texts;
}

}  // namespace rankscope::gui
