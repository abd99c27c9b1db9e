#include "importers/nsys/nvtx_names.h"

#include <algorithm>

#include "rankscope/core/numbers.h"

namespace rankscope::analyzer::nsys {
namespace {

/// The value behind ", KEY = ", if the text goes on with it; takes it off the text.
std::optional<std::string_view> take(std::string_view& text, std::string_view key) {
  if (!text.starts_with(key)) return std::nullopt;
  std::string_view rest = text.substr(key.size());
  int depth = 0;
  std::size_t end = 0;
  for (; end < rest.size(); ++end) {
    if (rest[end] == '[' || rest[end] == '(') ++depth;
    if (rest[end] == ']' || rest[end] == ')') --depth;
    if (rest[end] == ',' && depth <= 0) break;
  }
  text = rest.substr(end);
  return rest.substr(0, end);
}

std::optional<std::int64_t> number(std::optional<std::string_view> text) {
  return text ? number_from<std::int64_t>(*text) : std::nullopt;
}

std::string as_json(std::string_view pairs) {
  std::string json;
  for (const char letter : pairs) {
    if (letter == ' ') continue;
    json += letter == '(' ? '[' : letter == ')' ? ']' : letter;
  }
  return json;
}

bool is_list_of_numbers(std::string_view text) {
  return text.starts_with('[') && text.ends_with(']') &&
         text.find_first_not_of("[](), -0123456789") == std::string_view::npos;
}

}  // namespace

RangeName parse_range_name(std::string_view text) {
  constexpr std::string_view sequence = ", seq = ";
  constexpr std::string_view op_id = ", op_id = ";
  constexpr std::string_view sizes = ", sizes = ";
  constexpr std::string_view inputs = ", input_op_ids = ";
  RangeName found;
  const std::size_t end = std::min({text.find(sequence), text.find(op_id), text.find(sizes), text.size()});
  std::string_view rest = text.substr(end);
  const auto order = take(rest, sequence);
  const auto id = take(rest, op_id);
  found.sequence = number(order);
  found.op_id = number(id);
  const std::string_view shapes = take(rest, sizes).value_or(std::string_view{});
  const std::string_view edges = take(rest, inputs).value_or(std::string_view{});
  const bool numbers = found.sequence.has_value() == order.has_value() && found.op_id.has_value() == id.has_value();
  const bool understood = numbers && rest.empty() && (shapes.empty() || is_list_of_numbers(shapes)) &&
                          (edges.empty() || is_list_of_numbers(edges));
  if (!understood) return {.name = text, .sequence = {}, .op_id = {}, .sizes = {}, .inputs = {}};
  found.name = text.substr(0, end);
  found.sizes = shapes;
  found.inputs = as_json(edges);
  return found;
}

RangeKind kind_of_range(const RangeName& range) {
  constexpr std::string_view step = "ProfilerStep#";
  const std::string_view name = range.name;
  if (name.starts_with(step))
    if (const auto index = number(name.substr(step.size()))) return {SpanKind::step, index};
  if (name.starts_with("nccl:") || name.starts_with("gloo:")) return {SpanKind::api, {}};
  if (name.starts_with("enumerate(DataLoader)#") && name.ends_with("__next__")) return {SpanKind::data, {}};
  if (name.starts_with("Optimizer.step#")) return {SpanKind::optimizer, {}};
  const bool from_torch = range.op_id || !range.sizes.empty();
  const bool qualified = name.find("::") != std::string_view::npos;
  if (range.sequence || (from_torch && qualified) || name.starts_with("aten::")) return {SpanKind::op, {}};
  return {SpanKind::user, {}};
}

}  // namespace rankscope::analyzer::nsys
