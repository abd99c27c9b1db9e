#include "data_loading/parts.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "render/json_number.h"

namespace rankscope::analyzer {

namespace {

using Json = nlohmann::ordered_json;

std::string_view name_of(LoaderWorkers kind) {
  switch (kind) {
    case LoaderWorkers::recorded:
      return "recorded";
    case LoaderWorkers::none:
      return "none";
    case LoaderWorkers::not_in_recording:
      return "not_recorded";
  }
  return "?";
}

Json row_json(const DataLoadingRow& row) {
  Json out{{"rank", row.rank.value}, {"steps", row.steps},           {"window_ns", row.window_ns},
           {"waits", row.waits},     {"waiting_ns", row.waiting_ns}, {"workers_are", name_of(row.kind)}};
  const bool known = row.kind == LoaderWorkers::recorded;
  const auto number = [&](const char* name, std::int64_t value) {
    put(out, name, known ? std::optional{value} : std::nullopt, row.why_unknown);
  };
  put(out, "workers", row.kind == LoaderWorkers::not_in_recording ? std::nullopt : std::optional{row.workers},
      row.why_unknown);
  number("all_busy_ns", row.all_busy_ns);
  number("some_busy_ns", row.some_busy_ns);
  number("none_busy_ns", row.none_busy_ns);
  number("batches", row.batches);
  number("batches_ns", row.batches_ns);
  number("work_ns", row.work_ns);
  put(out, "ready_ahead", rounded(row.ready_ahead, 3), row.why_unknown);
  put(out, "workers_needed", workers_needed(row),
      known ? "no batch was loaded, the training loop asked for no batch, or it did nothing but wait for data"
            : row.why_unknown);
  return out;
}

}  // namespace

Json data_loading_json(const DataLoadingSection& section) {
  Json out;
  out["ranks"] = Json::array();
  for (const DataLoadingRow& row : section.rows) out["ranks"].push_back(row_json(row));
  return out;
}

}  // namespace rankscope::analyzer
