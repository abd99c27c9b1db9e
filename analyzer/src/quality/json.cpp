#include "quality/parts.h"

#include <nlohmann/json.hpp>

#include "render/json_parts.h"
#include "words/source_advice.h"

namespace rankscope::analyzer {

namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json quality_json(const QualityRow& row, std::string_view source) {
  const auto& info = info_of(row.counter);
  Json out{{"counter", info.name},
           {"value", row.value},
           {"severity", name_of(info.severity)},
           {"advice", advice_for(row.counter, source)}};
  if (!row.where.empty()) out["where"] = row.where;
  return out;
}

}  // namespace rankscope::analyzer
