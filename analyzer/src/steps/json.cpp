#include "steps/parts.h"

#include <nlohmann/json.hpp>

#include "render/json_parts.h"

namespace rankscope::analyzer {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json step_json(const Step& step) {
  return {{"index", step.index},
          {"begin_ns", ns_of(step.time.begin)},
          {"end_ns", ns_of(step.time.end)},
          {"complete", step.complete},
          {"warm_up", step.warm_up}};
}

}  // namespace rankscope::analyzer
