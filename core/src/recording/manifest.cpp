#include "rankscope/core/recording/manifest.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

#include "rankscope/core/format.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view schema = "rankscope.recording";

Json to_object(const std::vector<std::pair<std::string, std::string>>& entries) {
  Json object = Json::object();
  for (const auto& [key, value] : entries) object[key] = value;
  return object;
}

std::vector<std::pair<std::string, std::string>> from_object(const Json& parent, const char* key) {
  std::vector<std::pair<std::string, std::string>> entries;
  if (!parent.contains(key) || !parent[key].is_object()) return entries;
  for (const auto& [name, value] : parent[key].items())
    if (value.is_string()) entries.emplace_back(name, value.get<std::string>());
  return entries;
}

std::vector<std::string> strings_from(const Json& parent, const char* key) {
  std::vector<std::string> result;
  if (parent.contains(key) && parent[key].is_array())
    for (const Json& entry : parent[key])
      if (entry.is_string()) result.push_back(entry.get<std::string>());
  return result;
}

template <class T>
T value_or(const Json& parent, const char* key, T fallback) {
  if (!parent.contains(key)) return fallback;
  const Json& value = parent[key];
  const bool fits = std::is_integral_v<T> ? value.is_number_integer() : value.is_string();
  return fits ? value.get<T>() : fallback;
}

}  // namespace

Result<Manifest> read_manifest(const fs::path& recording) {
  const fs::path path = recording / manifest_name;
  std::ifstream file{path};
  if (!file) return fail(ErrorKind::unreadable, format("cannot open {}", path.string()));
  const Json json = Json::parse(file, nullptr, false);
  if (!json.is_object() || value_or<std::string>(json, "schema", "") != schema)
    return fail(ErrorKind::unreadable, format("{} is no rankscope manifest", path.string()));
  Manifest manifest;
  manifest.major = static_cast<int>(value_or<std::int64_t>(json, "major", 1));
  manifest.minor = static_cast<int>(value_or<std::int64_t>(json, "minor", 0));
  manifest.created_by = value_or<std::string>(json, "created_by", "");
  manifest.command = strings_from(json, "command");
  manifest.launcher = value_or<std::string>(json, "launcher", "");
  manifest.world_size = value_or<std::int64_t>(json, "world_size", 0);
  manifest.exit_status = value_or<std::int64_t>(json, "exit_status", -1);
  manifest.hosts = strings_from(json, "hosts");
  manifest.metadata = from_object(json, "metadata");
  manifest.injected = from_object(json, injected_faults_key);
  return manifest;
}

Result<void> write_manifest(const fs::path& recording, const Manifest& manifest) {
  Json json;
  json["schema"] = schema;
  json["major"] = manifest.major;
  json["minor"] = manifest.minor;
  json["created_by"] = manifest.created_by;
  json["command"] = manifest.command;
  json["launcher"] = manifest.launcher;
  json["world_size"] = manifest.world_size;
  json["exit_status"] = manifest.exit_status;
  json["hosts"] = manifest.hosts;
  json["metadata"] = to_object(manifest.metadata);
  if (!manifest.injected.empty()) json[injected_faults_key] = to_object(manifest.injected);
  const fs::path path = recording / manifest_name;
  const fs::path temporary = recording / (std::string{manifest_name} + ".part");
  std::ofstream file{temporary, std::ios::trunc};
  file << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
  file.close();
  std::error_code error;
  if (file) fs::rename(temporary, path, error);
  if (!file || error) return fail(ErrorKind::cannot_write, format("cannot write {}", path.string()));
  return {};
}

}  // namespace rankscope::recording
