#include "rankscope/core/recording/manifest.h"

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "rankscope/core/format.h"
#include "rankscope/core/regular_file.h"
#include "recording/format/crc32c.h"

namespace rankscope::recording {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view schema = "rankscope.recording";
constexpr const char* spooled_key = "spooled";
constexpr const char* losses_key = "losses";
constexpr const char* gathered_key = "gathered";
constexpr std::uint64_t most_bytes = 16 << 20;
constexpr int first_minor_with_checksum = 4;

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

Json to_json(const Spooled& spooled) {
  return {{"host", spooled.recorder.host},
          {"boot_id", spooled.recorder.boot_id},
          {"pid", spooled.recorder.pid},
          {"start_ticks", spooled.recorder.start_ticks},
          {"out", spooled.out}};
}

std::optional<Spooled> spooled_from(const Json& parent) {
  if (!parent.contains(spooled_key) || !parent[spooled_key].is_object()) return std::nullopt;
  const Json& json = parent[spooled_key];
  return Spooled{{.host = value_or<std::string>(json, "host", ""),
                  .boot_id = value_or<std::string>(json, "boot_id", ""),
                  .pid = value_or<std::int64_t>(json, "pid", 0),
                  .start_ticks = value_or<std::uint64_t>(json, "start_ticks", 0)},
                 value_or<std::string>(json, "out", "")};
}

std::vector<std::pair<std::string, std::uint64_t>> losses_from(const Json& parent) {
  std::vector<std::pair<std::string, std::uint64_t>> losses;
  if (!parent.contains(losses_key) || !parent[losses_key].is_object()) return losses;
  for (const auto& [name, value] : parent[losses_key].items())
    if (value.is_number_unsigned()) losses.emplace_back(name, value.get<std::uint64_t>());
  return losses;
}

// The checksum is the last member, and covers every byte before it.
constexpr const char* checksum_key = "crc32c";
constexpr std::string_view checksum_begin = ",\n  \"crc32c\": \"";
constexpr std::string_view checksum_end = "\"\n}\n";
constexpr std::size_t checksum_digits = 8;

std::string checksum_of(std::string_view text) { return format("{:08x}", crc32c(text.data(), text.size())); }

/// `object` is as Json::dump writes it with two blanks.
std::string with_checksum(std::string object) {
  object.resize(object.size() - std::string_view{"\n}"}.size());
  return format("{}{}{}{}", object, checksum_begin, checksum_of(object), checksum_end);
}

bool checksum_matches(std::string_view text) {
  constexpr std::size_t tail = checksum_begin.size() + checksum_digits + checksum_end.size();
  if (text.size() < tail) return false;
  const std::string_view covered = text.substr(0, text.size() - tail);
  return text.substr(covered.size()) == format("{}{}{}", checksum_begin, checksum_of(covered), checksum_end);
}

/// True for a text whose checksum does not hold, or that lacks one. How a newer major version computes it is not known.
bool is_altered(const Json& json, std::string_view text) {
  if (value_or<std::int64_t>(json, "major", 1) > format_major || checksum_matches(text)) return false;
  return json.contains(checksum_key) || value_or<std::int64_t>(json, "minor", 0) >= first_minor_with_checksum;
}

bool lists_entry(std::string_view list, std::string_view entry) {
  return format(",{},", list).find(format(",{},", entry)) != std::string::npos;
}

}  // namespace

std::string value_after(std::string_view key, std::string_view earlier, std::string_view later) {
  if (key == process_ends_key && !earlier.empty() && !later.empty() && earlier != later)
    return format("{};{}", earlier, later);
  if (key != details_recorded_key) return std::string{later};
  std::string all{earlier};
  while (!later.empty()) {
    const std::string_view entry = later.substr(0, later.find(','));
    later.remove_prefix(std::min(later.size(), entry.size() + 1));
    if (!entry.empty() && !lists_entry(all, entry)) all += format("{}{}", all.empty() ? "" : ",", entry);
  }
  return all;
}

std::string spool_id(const std::string& host, const fs::path& spool) { return format("{}:{}", host, spool.string()); }

void add_loss(Manifest& manifest, Counter counter, std::uint64_t value) {
  if (value == 0) return;
  const std::string name{info_of(counter).name};
  const auto known = std::ranges::find(manifest.losses, name, &std::pair<std::string, std::uint64_t>::first);
  if (known == manifest.losses.end())
    manifest.losses.emplace_back(name, value);
  else
    known->second += value;
}

Result<Manifest> read_manifest(const fs::path& recording) {
  const fs::path path = recording / manifest_name;
  RS_TRY(const std::string text, read_regular_file(path, most_bytes));
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || value_or<std::string>(json, "schema", "") != schema)
    return fail(ErrorKind::unreadable, format("{} is not a rankscope manifest", path.string()));
  if (is_altered(json, text))
    return fail(
        ErrorKind::unreadable,
        format("{} does not match its checksum: it was damaged or changed after it was written", path.string()));
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
  manifest.losses = losses_from(json);
  manifest.spooled = spooled_from(json);
  manifest.gathered = strings_from(json, gathered_key);
  return manifest;
}

std::string text_of(const Manifest& manifest) {
  Json json;
  json["schema"] = schema;
  json["major"] = format_major;
  json["minor"] = format_minor;
  json["created_by"] = manifest.created_by;
  json["command"] = manifest.command;
  json["launcher"] = manifest.launcher;
  json["world_size"] = manifest.world_size;
  json["exit_status"] = manifest.exit_status;
  json["hosts"] = manifest.hosts;
  json["metadata"] = to_object(manifest.metadata);
  if (!manifest.injected.empty()) json[injected_faults_key] = to_object(manifest.injected);
  for (const auto& [name, value] : manifest.losses) json[losses_key][name] = value;
  if (manifest.spooled) json[spooled_key] = to_json(*manifest.spooled);
  if (!manifest.gathered.empty()) json[gathered_key] = manifest.gathered;
  return with_checksum(json.dump(2, ' ', false, Json::error_handler_t::replace));
}

Result<void> write_manifest(const fs::path& recording, const Manifest& manifest) {
  const fs::path path = recording / manifest_name;
  const fs::path temporary = recording / (std::string{manifest_name} + ".part");
  std::ofstream file{temporary, std::ios::trunc};
  file << text_of(manifest);
  file.close();
  std::error_code error;
  if (file) fs::rename(temporary, path, error);
  if (!file || error) return fail(ErrorKind::cannot_write, format("cannot write {}", path.string()));
  return {};
}

}  // namespace rankscope::recording
