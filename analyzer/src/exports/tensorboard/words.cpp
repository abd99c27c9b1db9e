#include "exports/tensorboard/words.h"

#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/numbers.h"

namespace rankscope::analyzer {
namespace {

bool on_stream(const Run& run, const Span& span) { return run.lane(span.lane).kind == LaneKind::stream; }

constexpr std::string_view operators = "cpu_op";
constexpr std::string_view annotations = "user_annotation";  // in the trace view only

}  // namespace

std::string_view plugin_category(const Run& run, const Span& span) {
  const bool stream = on_stream(run, span);
  switch (span.kind) {
    case SpanKind::forward:
    case SpanKind::backward:
    case SpanKind::optimizer:
    case SpanKind::op:
    case SpanKind::data:
    case SpanKind::checkpoint:
      return operators;
    case SpanKind::user:
    case SpanKind::step:
    case SpanKind::wait:
    case SpanKind::loader:
    case SpanKind::api:
      return annotations;
    case SpanKind::sync:
      return stream ? "cuda_sync" : annotations;
    case SpanKind::comm:
      return stream ? "kernel" : annotations;
    case SpanKind::compute:
    case SpanKind::graph:
      return stream ? "kernel" : operators;
    case SpanKind::memory:
      if (!stream) return operators;
      return run.text(span.name).starts_with("Memset") ? "gpu_memset" : "gpu_memcpy";
    case SpanKind::runtime:
      return "runtime";  // what 0.4.3 looks for; Kineto's "cuda_runtime" would be ignored
    case SpanKind::overhead:
      return "overhead";
    case SpanKind::python:
      return "python_function";
  }
  return annotations;
}

bool keeps_name(SpanKind kind) {
  return kind != SpanKind::step && kind != SpanKind::data && kind != SpanKind::optimizer;
}

std::string plugin_name(const Run& run, const Span& span) {
  const auto name = run.text(span.name);
  switch (span.kind) {
    case SpanKind::step:
      // The plugin reads an integer behind the "#"; a step without one is only shown.
      if (const auto index = run.number(run.id_of(span), "index")) return format("ProfilerStep#{}", *index);
      return format("step {}", name);
    case SpanKind::data:
      if (name.starts_with("enumerate(Data") && name.ends_with(".__next__")) return std::string{name};
      return format("enumerate(DataLoader)#{}.__next__", name);
    case SpanKind::optimizer:
      if (name.starts_with("Optimizer.")) return std::string{name};
      return format("Optimizer.step#{}", name);
    case SpanKind::user:
    case SpanKind::forward:
    case SpanKind::backward:
    case SpanKind::op:
    case SpanKind::wait:
    case SpanKind::sync:
    case SpanKind::loader:
    case SpanKind::checkpoint:
    case SpanKind::comm:
    case SpanKind::compute:
    case SpanKind::memory:
    case SpanKind::runtime:
    case SpanKind::overhead:
    case SpanKind::api:
    case SpanKind::python:
    case SpanKind::graph:
      break;
  }
  return std::string{name};
}

bool is_tree_node(const Run& run, const Span& span) {
  return plugin_category(run, span) == operators || span.kind == SpanKind::step;
}

PluginType plugin_type(std::string_view dtype) {
  const auto digits = dtype.find_first_of("0123456789");
  switch (leading_number<int>(dtype.substr(std::min(digits, dtype.size()))).value_or(8)) {
    case 64:
      return {"long int", 8};
    case 32:
      return {dtype.starts_with('f') ? "float" : "int", 4};
    case 16:
      return {dtype.starts_with('b') ? "c10::BFloat16" : "c10::Half", 2};
    default:
      return {"unsigned char", 1};
  }
}

}  // namespace rankscope::analyzer
