// Memory over time, and the tables of the text report.
#include <algorithm>
#include <optional>
#include <span>

#include "memory/parts.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/format.h"
#include "render/html/elements.h"
#include "render/words.h"

namespace rankscope::analyzer::html {
namespace {

constexpr std::size_t most_charts = 8;
constexpr std::size_t most_steps = 20;  // with a label
constexpr double left = 72;
constexpr double right = 16;
constexpr double top = 16;
constexpr double bottom = 44;
constexpr double height = 260;
constexpr double base = height - bottom;
constexpr double limit_from = 0.25;  // a peak below that share of the device leaves its size out of the picture

/// One step function.
struct Line {
  std::string_view kind;  ///< class of the style sheet
  std::string_view name;
  std::span<const MemoryPoint> points;
};

/// Places of times and sizes.
struct Plot {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 1;
  std::int64_t most_bytes = 1;

  [[nodiscard]] double x(std::int64_t ns) const {
    const double share = static_cast<double>(std::clamp(ns, begin_ns, end_ns) - begin_ns) /
                         static_cast<double>(std::max<std::int64_t>(1, end_ns - begin_ns));
    return left + share * (chart_width - left - right);
  }
  [[nodiscard]] double y(std::int64_t bytes) const {
    const double share =
        static_cast<double>(std::clamp<std::int64_t>(bytes, 0, most_bytes)) / static_cast<double>(most_bytes);
    return base - share * (base - top);
  }
};

struct Picture {
  std::string id;
  std::string title;
  std::string description;
  RankId rank;
  std::vector<Line> lines;
  std::optional<std::int64_t> limit_bytes;  ///< drawn
};

Plot plot_of(const Picture& picture) {
  Plot plot;
  bool first = true;
  std::int64_t highest = picture.limit_bytes.value_or(1);
  for (const Line& line : picture.lines) {
    if (line.points.empty()) continue;
    plot.begin_ns = first ? line.points.front().time_ns : std::min(plot.begin_ns, line.points.front().time_ns);
    plot.end_ns = first ? line.points.back().time_ns : std::max(plot.end_ns, line.points.back().time_ns);
    first = false;
    highest = std::max(highest, std::ranges::max(line.points, {}, &MemoryPoint::bytes).bytes);
  }
  plot.most_bytes = highest + highest / 20 + 1;
  return plot;
}

/// 1, 2 or 5 times a power of ten, so that at most six lines are drawn.
std::int64_t tick_of(std::int64_t most) {
  for (std::int64_t power = 1;; power *= 10)
    for (const std::int64_t digit : {1, 2, 5})
      if (most / (digit * power) <= 6) return digit * power;
}

void draw_axes(Chart& chart, const Plot& plot, const Picture& picture, const Report& report) {
  const std::int64_t tick = tick_of(plot.most_bytes);
  for (std::int64_t bytes = 0; bytes <= plot.most_bytes; bytes += tick) {
    chart.line(left, plot.y(bytes), chart_width - right, plot.y(bytes), bytes == 0 ? "axis" : "grid");
    chart.text(left - 8, plot.y(bytes) + 4, bytes_text(bytes), "tick end");
  }
  if (!report.steps) return;
  std::vector<const StepWindow*> windows;
  for (const StepWindow& window : report.steps->windows) {
    const std::int64_t begin = ns_of(window.window.begin);
    if (window.rank == picture.rank && begin >= plot.begin_ns && begin <= plot.end_ns) windows.push_back(&window);
  }
  const std::size_t stride = label_stride(windows.size(), most_steps);
  for (std::size_t i = 0; i < windows.size(); i += stride) {
    const double x = plot.x(ns_of(windows[i]->window.begin));
    chart.line(x, top, x, base, "step-line");
    chart.text(x, base + 18, format("{}", windows[i]->index), "tick middle");
  }
  if (!windows.empty()) chart.text((left + chart_width - right) / 2, height - 6, "start of step", "tick middle");
}

/// Each value holds until the next one.
void draw_line(Writer& page, const Plot& plot, const Line& line) {
  std::string path;
  for (const MemoryPoint& point : line.points) {
    const std::string x = number(plot.x(point.time_ns));
    const std::string y = number(plot.y(point.bytes));
    path += path.empty() ? format("M{} {}", x, y) : format("H{}V{}", x, y);
  }
  path += format("H{}", number(plot.x(plot.end_ns)));
  page.empty("path", {{"class", format("memory-line {}", line.kind)}, {"d", path}});
  const auto highest = std::ranges::max_element(line.points, {}, &MemoryPoint::bytes);
  const auto dot = page.scope("circle", {{"class", format("mark memory-dot {}", line.kind)},
                                         {"cx", number(plot.x(highest->time_ns))},
                                         {"cy", number(plot.y(highest->bytes))},
                                         {"r", "4"}});
  page.element("title", format("peak {}: {}", line.name, bytes_text(highest->bytes)));
}

void write_picture(Writer& page, const Picture& picture, const Report& report) {
  const Plot plot = plot_of(picture);
  std::vector<LegendEntry> entries;
  for (const Line& line : picture.lines)
    if (!line.points.empty()) entries.push_back({line.kind, line.name});
  write_legend(page, entries);
  Chart chart{page, {picture.id, picture.title, picture.description}, height};
  draw_axes(chart, plot, picture, report);
  if (picture.limit_bytes) {
    chart.line(left, plot.y(*picture.limit_bytes), chart_width - right, plot.y(*picture.limit_bytes), "limit-line");
    chart.text(chart_width - right, plot.y(*picture.limit_bytes) + 16, "memory of the device", "label end");
  }
  for (const Line& line : picture.lines)
    if (!line.points.empty()) draw_line(page, plot, line);
}

Picture picture_of(const DeviceMemory& memory, std::size_t place) {
  Picture picture;
  picture.id = format("memory-chart-{}", place);
  picture.title = format("Memory over time: rank {}, {}", memory.rank.value, memory_name(memory));
  picture.rank = memory.rank;
  picture.lines = {{"memory-reserved", "reserved", memory.reserved_points},
                   {"memory-allocated", memory.changes_only ? "allocated since the recording began" : "allocated",
                    memory.allocated_points}};
  const std::int64_t most = std::max(memory.allocated.bytes.value_or(0), memory.reserved.bytes.value_or(0));
  if (memory.total_bytes && static_cast<double>(most) >= limit_from * static_cast<double>(*memory.total_bytes))
    picture.limit_bytes = memory.total_bytes;
  std::string words;
  if (memory.allocated.bytes) words += format("at most {} allocated", bytes_text(*memory.allocated.bytes));
  if (memory.reserved.bytes)
    words += format("{}at most {} reserved", words.empty() ? "" : ", ", bytes_text(*memory.reserved.bytes));
  if (memory.total_bytes) words += format(" of {}", bytes_text(*memory.total_bytes));
  picture.description = format("Bytes over time as a stepped line, {}. The table below has the numbers.", words);
  return picture;
}

Picture picture_of(const HostMemory& host, std::size_t place) {
  Picture picture;
  picture.id = format("memory-chart-{}", place);
  picture.title = format("Memory of the host over time: rank {}, whole process", host.rank.value);
  picture.rank = host.rank;
  picture.lines = {{"memory-reserved", "resident", host.points}};
  picture.description = format("Sampled bytes over time, at most {} resident. The table below has the numbers.",
                               bytes_text(host.resident.bytes.value_or(0)));
  return picture;
}

/// The rows with the largest values, in their order.
template <class Row, class Size>
std::vector<const Row*> largest(std::vector<const Row*> rows, Size size) {
  std::ranges::stable_sort(rows, std::ranges::greater{}, [&](const Row* row) { return size(*row); });
  rows.resize(std::min(rows.size(), most_charts));
  std::ranges::sort(rows);
  return rows;
}

struct Pictures {
  std::vector<Picture> drawn;
  std::size_t of = 0;  ///< that could be drawn
};

template <class Row>
Pictures pictures_of(const std::vector<const Row*>& rows, std::size_t of) {
  Pictures pictures{{}, of};
  for (const Row* const row : rows) pictures.drawn.push_back(picture_of(*row, pictures.drawn.size()));
  return pictures;
}

/// Those with the highest peaks: of accelerators; where there are none of what the hosts gave out; where nothing tells
/// that of the processes.
Pictures pictures_of(const MemorySection& section) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host}) {
    std::vector<const DeviceMemory*> rows;
    for (const DeviceMemory& memory : section.devices)
      if (memory.kind == kind && memory.allocated_points.size() + memory.reserved_points.size() > 1)
        rows.push_back(&memory);
    const auto peak = [](const DeviceMemory& memory) {
      return std::max(memory.allocated.bytes.value_or(0), memory.reserved.bytes.value_or(0));
    };
    if (!rows.empty()) return pictures_of(largest(rows, peak), rows.size());
  }
  std::vector<const HostMemory*> hosts;
  for (const HostMemory& host : section.hosts)
    if (host.points.size() > 1) hosts.push_back(&host);
  return pictures_of(largest(hosts, [](const HostMemory& host) { return host.resident.bytes.value_or(0); }),
                     hosts.size());
}

}  // namespace

void write_memory(Writer& page, const Source& source) {
  if (!source.report.memory) return;
  const Pictures pictures = pictures_of(*source.report.memory);
  for (const Picture& picture : pictures.drawn) write_picture(page, picture, source.report);
  if (pictures.drawn.size() < pictures.of)
    page.element("p",
                 format("Shown: the {} charts with the highest peaks, out of {}.", pictures.drawn.size(), pictures.of),
                 {{"class", "faint"}});
  write_noted_tables(page, memory_tables(source.report, most_rows(source.options)));
}

}  // namespace rankscope::analyzer::html
