// Names of the enumerations, as the text form and the report print them.
#include <array>

#include "rankscope/core/model/process.h"
#include "rankscope/core/model/quality.h"
#include "rankscope/core/model/span.h"

namespace rankscope {
namespace {

constexpr std::array<std::string_view, span_kind_count> span_kind_names{
    "user",       "step", "data",    "forward", "backward", "optimizer", "op",  "wait",   "sync", "loader",
    "checkpoint", "comm", "compute", "memory",  "runtime",  "overhead",  "api", "python", "graph"};
constexpr std::array<std::string_view, 4> lane_kind_names{"thread", "comm", "stream", "annotation"};
constexpr std::array<std::string_view, link_kind_count> link_kind_names{"launch", "forward_backward"};
constexpr std::array<std::string_view, 3> ending_names{"unknown", "exited", "vanished"};
constexpr std::array<std::string_view, 3> severity_names{"data_loss", "error", "info"};

template <class Enum, std::size_t n>
std::optional<Enum> find_name(const std::array<std::string_view, n>& names, std::string_view name) {
  for (std::size_t i = 0; i < n; ++i)
    if (names[i] == name) return static_cast<Enum>(i);
  return std::nullopt;
}

}  // namespace

std::string_view name_of(SpanKind kind) { return span_kind_names[static_cast<std::size_t>(kind)]; }
std::optional<SpanKind> span_kind_from(std::string_view name) { return find_name<SpanKind>(span_kind_names, name); }
std::string_view name_of(LaneKind kind) { return lane_kind_names[static_cast<std::size_t>(kind)]; }
std::optional<LaneKind> lane_kind_from(std::string_view name) { return find_name<LaneKind>(lane_kind_names, name); }
std::string_view name_of(LinkKind kind) { return link_kind_names[static_cast<std::size_t>(kind)]; }
std::optional<LinkKind> link_kind_from(std::string_view name) { return find_name<LinkKind>(link_kind_names, name); }
std::string_view name_of(Ending ending) { return ending_names[static_cast<std::size_t>(ending)]; }
std::optional<Ending> ending_from(std::string_view name) { return find_name<Ending>(ending_names, name); }
std::string_view name_of(Severity severity) { return severity_names[static_cast<std::size_t>(severity)]; }

}  // namespace rankscope
