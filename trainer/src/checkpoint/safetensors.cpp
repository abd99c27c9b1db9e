#include "rankscope/trainer/checkpoint/safetensors.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "checkpoint/files.h"
#include "checkpoint/strict_json.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

constexpr const char* metadata_key = "__metadata__";
constexpr std::uint64_t length_bytes = 8;
constexpr std::size_t alignment = 8;  // of the first tensor: the format's own writer pads the header to it, too

Result<std::map<std::string, std::string>> metadata_from(const Json& json, const std::string& path) {
  std::map<std::string, std::string> metadata;
  const bool is_text =
      json.is_object() && std::ranges::all_of(json, [](const Json& value) { return value.is_string(); });
  if (!is_text) return fail(ErrorKind::unreadable, format("{}: every value in __metadata__ must be a string", path));
  for (const auto& [key, value] : json.items()) metadata.emplace(key, value.get<std::string>());
  return metadata;
}

Result<StoredTensor> tensor_from(const std::string& name, const Json& json, const std::string& path) {
  const Fields fields{json, format("{}: tensor {}", path, in_quotes(name))};
  StoredTensor tensor;
  RS_TRY(tensor.info, tensor_info_from(fields, name));
  RS_TRY(const Json* const offsets, fields.list("data_offsets"));
  const auto is_offset = [](const Json& value) { return value.is_number_unsigned(); };
  if (offsets->size() != 2 || !std::ranges::all_of(*offsets, is_offset))
    return fields.wrong("\"data_offsets\" must be two whole numbers of at least 0");
  tensor.begin = offsets->at(0).get<std::uint64_t>();
  tensor.end = offsets->at(1).get<std::uint64_t>();
  const auto needed = static_cast<std::uint64_t>(*elements_of(tensor.info) * bytes_of(tensor.info.type));
  if (tensor.end < tensor.begin || tensor.end - tensor.begin != needed)
    return fields.wrong(
        format("its bytes are {} to {}, but its type and shape need {} B", tensor.begin, tensor.end, needed));
  return tensor;
}

// Sorted by their bytes, each tensor must begin where the one before it ends.
Result<void> check_layout(const std::vector<StoredTensor>& tensors, std::uint64_t data_bytes, const std::string& path) {
  std::uint64_t end = 0;
  for (const StoredTensor& tensor : tensors) {
    if (tensor.begin != end)
      return fail(ErrorKind::unreadable,
                  format("{}: tensor {}: its bytes begin at {}, {} the end of the previous tensor at {}", path,
                         in_quotes(tensor.info.name), tensor.begin, tensor.begin < end ? "before" : "after", end));
    end = tensor.end;
  }
  if (end == data_bytes) return {};
  return fail(
      ErrorKind::unreadable,
      format("{}: {}: its tensors have {} bytes, but {} follow the header", path,
             end > data_bytes ? "the file is truncated" : "the file has bytes after its last tensor", end, data_bytes));
}

Result<std::string> read_text(int descriptor, std::uint64_t offset, std::uint64_t bytes, const std::string& path) {
  std::string text(bytes, '\0');
  RS_TRY_VOID(read_at(descriptor, offset, std::as_writable_bytes(std::span{text}), path));
  return text;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

}  // namespace

std::string safetensors_head(std::span<const TensorBytes> tensors, const std::map<std::string, std::string>& metadata) {
  Json json = Json::object();
  if (!metadata.empty()) json[metadata_key] = metadata;
  std::uint64_t begin = 0;
  for (const auto& [info, bytes] : tensors) {
    RS_CHECK(!json.contains(info.name) && info.name != metadata_key);
    RS_CHECK(static_cast<std::int64_t>(bytes.size()) == elements_of(info).value_or(-1) * bytes_of(info.type));
    json[info.name] = {
        {"dtype", name_of(info.type)}, {"shape", info.shape}, {"data_offsets", {begin, begin + bytes.size()}}};
    begin += bytes.size();
  }
  std::string text = compact(json);
  text.resize((text.size() + alignment - 1) / alignment * alignment, ' ');
  std::string head;
  for (std::uint64_t i = 0; i < length_bytes; ++i) head += static_cast<char>(text.size() >> (8 * i) & 0xFF);
  return head + text;
}

Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                                   const std::string& path) {
  RS_TRY(const Json tree, parse_strict(json, path));
  SafetensorsHeader header;
  header.data_begin = length_bytes + json.size();
  for (const auto& [name, value] : tree.items()) {
    if (name == metadata_key) {
      RS_TRY(header.metadata, metadata_from(value, path));
      continue;
    }
    RS_TRY(StoredTensor tensor, tensor_from(name, value, path));
    header.tensors.push_back(std::move(tensor));
  }
  // A tensor without elements may stand between two others; it comes before what begins at the same byte.
  std::ranges::sort(header.tensors, {}, [](const StoredTensor& tensor) { return std::pair{tensor.begin, tensor.end}; });
  RS_TRY_VOID(check_layout(header.tensors, data_bytes, path));
  return header;
}

Result<SafetensorsHeader> read_safetensors_header(int descriptor, const std::string& path) {
  RS_TRY(const std::uint64_t size, size_of(descriptor, path));
  if (size < length_bytes)
    return fail(ErrorKind::unreadable,
                format("{} is truncated: it has {} bytes, but the length of the header alone takes 8", path, size));
  RS_TRY(const std::string length, read_text(descriptor, 0, length_bytes, path));
  const std::uint64_t bytes = little_endian(length);
  if (bytes > largest_safetensors_header)
    return fail(ErrorKind::unreadable,
                format("{} is not a safetensors file: its header would have {} bytes, but at most {} are "
                       "allowed",
                       path, bytes, largest_safetensors_header));
  if (bytes > size - length_bytes)
    return fail(ErrorKind::unreadable,
                format("{} is truncated within its header: it has {} of {} bytes", path, size - length_bytes, bytes));
  RS_TRY(const std::string json, read_text(descriptor, length_bytes, bytes, path));
  return parse_safetensors_header(json, size - length_bytes - bytes, path);
}

Result<SafetensorsHeader> read_safetensors_header(const std::filesystem::path& path) {
  RS_TRY(const Descriptor file, open_to_read(AT_FDCWD, path.string(), path.string()));
  return read_safetensors_header(file.number(), path.string());
}

}  // namespace rankscope::trainer
