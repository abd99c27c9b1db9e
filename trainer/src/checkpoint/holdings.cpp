#include <algorithm>
#include <set>
#include <unordered_map>

#include "checkpoint/files.h"
#include "checkpoint/manifest_json.h"
#include "checkpoint/strict_json.h"
#include "rankscope/core/format.h"
#include "rankscope/core/numbers.h"

namespace rankscope::trainer {
namespace {

Result<TensorInfo> tensor_from(const Json& json, const std::string& where) {
  const Fields unnamed{json, format("{}: tensors", where)};
  RS_TRY(std::string name, unnamed.text("name"));
  if (!is_tensor_name(name)) return unnamed.wrong(format("{} is not a valid tensor name", in_quotes(name)));
  return tensor_info_from(Fields{json, format("{}: tensor {}", where, name)}, name);
}

Result<TensorRange> range_from(const Json& json, const std::string& where) {
  const bool has_form = json.is_array() && json.size() == 3 && json[0].is_string();
  const auto number = [&json](std::size_t i) -> std::int64_t {
    const bool fits = json[i].is_number_unsigned() && json[i].get<std::uint64_t>() <= std::uint64_t{INT64_MAX};
    return fits ? json[i].get<std::int64_t>() : -1;
  };
  if (!has_form || number(1) < 0 || number(2) <= number(1))
    return fail(ErrorKind::unreadable, format("{}: a range must be [name, begin, end]", where));
  return TensorRange{json[0].get<std::string>(), {number(1), number(2)}};
}

// A name with a path in it could lead out of the folder.
bool is_plain_file_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." &&
         name.find_first_of(std::string_view{"/\0", 2}) == std::string::npos;
}

Result<std::uint32_t> crc32_from(const Fields& fields) {
  RS_TRY(const std::string text, fields.text("crc32"));
  const auto value = hex_number_from(text);
  if (text.size() != 8 || !value) return fields.wrong("\"crc32\" must be 8 hexadecimal digits (0-9a-f)");
  return static_cast<std::uint32_t>(*value);
}

Result<CheckpointFile> file_from(const Json& json, const std::string& where) {
  const Fields unnamed{json, format("{}: files", where)};
  CheckpointFile file;
  RS_TRY(file.name, unnamed.text("name"));
  if (!is_plain_file_name(file.name)) return unnamed.wrong(format("{} is not a valid file name", in_quotes(file.name)));
  const Fields fields{json, format("{}: file {}", where, in_quotes(file.name))};
  RS_TRY(file.bytes, fields.any_unsigned("bytes"));
  RS_TRY(file.crc32, crc32_from(fields));
  RS_TRY(const Json* const ranges, fields.list("ranges"));
  for (const Json& entry : *ranges) {
    RS_TRY(TensorRange range, range_from(entry, fields.where()));
    file.ranges.push_back(std::move(range));
  }
  return file;
}

template <class T>
Result<void> check_unique_names(const std::vector<T>& entries, const std::string& where) {
  std::set<std::string_view> names;
  for (const T& entry : entries)
    if (!names.insert(entry.name).second)
      return fail(ErrorKind::unreadable, format("{}: {} appears twice", where, in_quotes(entry.name)));
  return {};
}

}  // namespace

Json tensors_json(const std::vector<TensorInfo>& tensors) {
  Json list = Json::array();
  for (const TensorInfo& tensor : tensors)
    list.push_back({{"name", tensor.name}, {"dtype", name_of(tensor.type)}, {"shape", tensor.shape}});
  return list;
}

Json files_json(const std::vector<CheckpointFile>& files) {
  Json list = Json::array();
  for (const CheckpointFile& file : files) {
    Json ranges = Json::array();
    for (const TensorRange& entry : file.ranges)
      ranges.push_back(Json::array({entry.tensor, entry.range.begin, entry.range.end}));
    list.push_back(
        {{"name", file.name}, {"bytes", file.bytes}, {"crc32", crc32_text(file.crc32)}, {"ranges", std::move(ranges)}});
  }
  return list;
}

Result<Holdings> holdings_from(const Fields& fields) {
  Holdings holdings;
  RS_TRY(const Json* const tensors, fields.list("tensors"));
  for (const Json& entry : *tensors) {
    RS_TRY(TensorInfo tensor, tensor_from(entry, fields.where()));
    holdings.tensors.push_back(std::move(tensor));
  }
  RS_TRY(const Json* const files, fields.list("files"));
  for (const Json& entry : *files) {
    RS_TRY(CheckpointFile file, file_from(entry, fields.where()));
    holdings.files.push_back(std::move(file));
  }
  RS_TRY_VOID(check_unique_names(holdings.tensors, fields.where()));
  RS_TRY_VOID(check_unique_names(holdings.files, fields.where()));
  return holdings;
}

Result<void> check_ranges(const Holdings& holdings, const std::string& where) {
  std::unordered_map<std::string_view, std::int64_t> elements;
  for (const TensorInfo& tensor : holdings.tensors) elements.emplace(tensor.name, elements_of(tensor).value_or(0));
  std::vector<const TensorRange*> all;
  for (const CheckpointFile& file : holdings.files)
    for (const TensorRange& entry : file.ranges) {
      const auto known = elements.find(entry.tensor);
      if (known == elements.end())
        return fail(ErrorKind::unreadable, format("{}: file {} contains {}, which is not in the list of tensors", where,
                                                  in_quotes(file.name), in_quotes(entry.tensor)));
      if (entry.range.end > known->second)
        return fail(ErrorKind::unreadable,
                    format("{}: file {} contains {} up to element {}, but the tensor has only {}", where,
                           in_quotes(file.name), entry.tensor, entry.range.end, known->second));
      all.push_back(&entry);
    }
  std::ranges::sort(all, {}, [](const TensorRange* entry) {
    return std::pair{std::string_view{entry->tensor}, entry->range.begin};
  });
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i]->tensor == all[i - 1]->tensor && all[i]->range.begin < all[i - 1]->range.end)
      return fail(ErrorKind::unreadable,
                  format("{}: element {} of {} is stored twice", where, all[i]->range.begin, all[i]->tensor));
  return {};
}

}  // namespace rankscope::trainer
