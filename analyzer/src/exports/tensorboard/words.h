// How spans are called in Kineto's schema, as far as TensorBoard's plugin must understand them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rankscope/core/model/run_parts.h"

namespace rankscope::analyzer {

/// The category of a span that is no communication node.
[[nodiscard]] std::string_view plugin_category(const Run& run, const Span& span);
/// The name that the plugin recognises steps, data loading and the optimizer by; else the span's own. Not quoted.
[[nodiscard]] std::string plugin_name(const Run& run, const Span& span);
/// True if the span keeps its own name.
[[nodiscard]] bool keeps_name(SpanKind kind);
/// True if the plugin makes a node of its operator tree from the span.
[[nodiscard]] bool is_tree_node(const Run& run, const Span& span);
/// Its name for a tensor type of the same size, from ours ("f32"), so that its sizes in bytes are right.
struct PluginType {
  std::string_view name;
  std::int64_t bytes;
};
[[nodiscard]] PluginType plugin_type(std::string_view dtype);

}  // namespace rankscope::analyzer
