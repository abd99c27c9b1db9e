#include "rankscope/trainer/checkpoint/manifest.h"

#include <algorithm>
#include <unordered_map>

#include "checkpoint/files.h"
#include "checkpoint/manifest_json.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

constexpr std::string_view schema = "rankscope.checkpoint";
constexpr const char* checksum_key = "checksum";

std::string checksum_of(const Json& json) {
  const std::string text = compact(json);
  return crc32_text(crc32_of(std::as_bytes(std::span{text})));
}

Json to_json(const CheckpointManifest& manifest) {
  const TrainingFacts& facts = manifest.facts;
  const ModeSizes& sizes = facts.sizes;
  Json json;
  json["schema"] = schema;
  json["format"] = checkpoint_format;
  json["created_by"] = manifest.created_by;
  json["step"] = facts.step;
  json["world_size"] = facts.world_size;
  json["parallel"] = {{"mode", sizes.mode}, {"dp", sizes.dp}, {"tp", sizes.tp}, {"pp", sizes.pp}};
  json["seed"] = facts.seed;
  json["global_batch"] = facts.global_batch;
  json["model"] = {{"fingerprint", fingerprint_of(facts.model)}, {"options", facts.model}};
  json["optimizer"] = {{"kind", facts.optimizer}, {"steps", facts.optimizer_steps}};
  json["data"] = {{"epoch", facts.cursor.epoch}, {"samples", facts.cursor.samples}};
  json["tensors"] = tensors_json(manifest.tensors);
  json["files"] = files_json(manifest.files);
  return json;
}

Result<NamedOptions> model_from(const Fields& fields) {
  RS_TRY(const Fields model, fields.object("model"));
  RS_TRY(const Fields options, model.object("options"));
  if (!std::ranges::all_of(options.json(), [](const Json& value) { return value.is_string(); }))
    return options.wrong("every value must be a string");
  const auto named = options.json().get<NamedOptions>();
  RS_TRY(const std::string fingerprint, model.text("fingerprint"));
  if (fingerprint != fingerprint_of(named)) return model.wrong("its fingerprint does not match its options");
  return named;
}

Result<ModeSizes> sizes_from(const Fields& fields) {
  RS_TRY(const Fields parallel, fields.object("parallel"));
  ModeSizes sizes;
  RS_TRY(sizes.mode, parallel.text("mode"));
  RS_TRY(sizes.dp, parallel.number("dp", 1));
  RS_TRY(sizes.tp, parallel.number("tp", 1));
  RS_TRY(sizes.pp, parallel.number("pp", 1));
  return sizes;
}

Result<TrainingFacts> facts_from(const Fields& fields) {
  TrainingFacts facts;
  RS_TRY(facts.step, fields.number("step", 0));
  RS_TRY(facts.world_size, fields.number("world_size", 1));
  RS_TRY(facts.sizes, sizes_from(fields));
  RS_TRY(facts.seed, fields.any_unsigned("seed"));
  RS_TRY(facts.global_batch, fields.number("global_batch", 1));
  RS_TRY(facts.model, model_from(fields));
  RS_TRY(const Fields optimizer, fields.object("optimizer"));
  RS_TRY(facts.optimizer, optimizer.text("kind"));
  RS_TRY(facts.optimizer_steps, optimizer.number("steps", 0));
  RS_TRY(const Fields data, fields.object("data"));
  RS_TRY(facts.cursor.epoch, data.number("epoch", 0));
  RS_TRY(facts.cursor.samples, data.number("samples", 0));
  return facts;
}

// The format comes first: a newer one may have its checksum elsewhere.
Result<void> check_origin(const Fields& fields) {
  const auto kind = fields.text("schema");
  if (!kind || *kind != schema) return fields.wrong("the file is not the manifest of a rankscope checkpoint");
  RS_TRY(const std::int64_t version, fields.number("format", 1));
  if (version > checkpoint_format)
    return fields.wrong(format(
        "the checkpoint has format {}, but this version of rankscope reads formats up to {}: use a newer version",
        version, checkpoint_format));
  RS_TRY(const std::string checksum, fields.text(checksum_key));
  Json others = fields.json();
  others.erase(checksum_key);
  if (checksum != checksum_of(others))
    return fields.wrong("the file is damaged: its checksum does not match its content");
  return {};
}

}  // namespace

std::string fingerprint_of(const NamedOptions& options) {
  const std::string text = compact(options);
  return crc32_text(crc32_of(std::as_bytes(std::span{text})));
}

std::string name_in_file(const TensorInfo& tensor, ElementRange range) {
  if (range == ElementRange{0, elements_of(tensor).value_or(0)}) return tensor.name;
  return format("{}[{}:{}]", tensor.name, range.begin, range.end);
}

std::string manifest_text(const CheckpointManifest& manifest) {
  Json json = to_json(manifest);
  json[checksum_key] = checksum_of(json);
  std::string text;
  for (const auto& [key, value] : json.items()) {
    text += format("{}\n {}: ", text.empty() ? "{" : ",", compact(key));
    if (!value.is_array()) {
      text += compact(value);
      continue;
    }
    std::string_view before = "[";
    for (const Json& entry : value) {
      text += format("{}\n  {}", before, compact(entry));
      before = ",";
    }
    text += value.empty() ? "[]" : "\n ]";
  }
  return text + "\n}\n";
}

Result<CheckpointManifest> parse_manifest(std::string_view text, const std::string& path) {
  RS_TRY(const Json json, parse_strict(text, path));
  const Fields fields{json, path};
  RS_TRY_VOID(check_origin(fields));
  CheckpointManifest manifest;
  RS_TRY(manifest.created_by, fields.text("created_by"));
  RS_TRY(manifest.facts, facts_from(fields));
  RS_TRY(Holdings holdings, holdings_from(fields));
  RS_TRY_VOID(check_ranges(holdings, path));
  manifest.tensors = std::move(holdings.tensors);
  manifest.files = std::move(holdings.files);
  return manifest;
}

Result<void> check_complete(const CheckpointManifest& manifest) {
  std::unordered_map<std::string_view, std::int64_t> held;
  for (const CheckpointFile& file : manifest.files)
    for (const TensorRange& entry : file.ranges) held[entry.tensor] += entry.range.count();
  // No element stands twice, so that counting them is enough.
  for (const TensorInfo& tensor : manifest.tensors) {
    const std::int64_t elements = elements_of(tensor).value_or(0);
    if (held[tensor.name] != elements)
      return fail(ErrorKind::not_computable,
                  format("the files lack {} of the {} elements of {}, since no rank wrote them",
                         elements - held[tensor.name], elements, tensor.name));
  }
  return {};
}

}  // namespace rankscope::trainer
