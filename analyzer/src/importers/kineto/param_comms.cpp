#include "importers/kineto/param_comms.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "importers/kineto/decimal.h"
#include "importers/kineto/metadata.h"

namespace rankscope::analyzer::kineto {
namespace {

constexpr std::string_view scalar = "Scalar";
constexpr std::array<std::size_t, 4> known_lengths{6, 7, 9, 10};  // without tensors; see the header
constexpr std::size_t with_first_rank = 9;                        // from this length on the layout is that of 2024
constexpr std::int64_t most_elements = std::int64_t{1} << 60;     // more than any memory holds

/// True if sequence, group, rank and name stand from `first` on: the name is a text, which has no type.
bool is_layout(const std::vector<std::string>& types, std::size_t first) {
  if (types.size() < first || std::ranges::find(known_lengths, types.size() - first) == known_lengths.end())
    return false;
  const auto is_number_or_tuple = [](const std::string& type) { return type.empty() || type == scalar; };
  const bool tensors_in_front = first == 0 || types.front() != scalar;
  return tensors_in_front && is_number_or_tuple(types[first]) && is_number_or_tuple(types[first + 1]) &&
         types[first + 2] == scalar && types[first + 3].empty();
}

/// Numbers in "[1024, 8]" multiplied; of "[[1024], [8]]" the sum over its tensors.
std::int64_t elements_in(std::string_view dims) {
  std::int64_t product = 1;
  std::int64_t sum = 0;
  bool nested = false;
  for_each_item(dims, [&](const Value& item) {
    if (item.raw.starts_with('[')) {
      nested = true;
      sum = std::min(sum + elements_in(item.raw), most_elements);
      return;
    }
    const std::int64_t factor = std::clamp<std::int64_t>(integer_of(item.raw).value_or(0), 0, std::int64_t{1} << 40);
    product = factor > 0 && product > most_elements / factor ? most_elements : product * factor;
  });
  return nested ? sum : product;
}

}  // namespace

std::optional<ParamComms> param_comms_from(const RecordedInputs& inputs) {
  const std::vector<std::string> types = texts_from(inputs.types);
  const std::vector<std::string> values = texts_from(inputs.values);
  const bool bare = is_layout(types, 0);
  if (values.size() != types.size() || bare == is_layout(types, 1)) return std::nullopt;
  const std::size_t first = bare ? 0 : 1;
  ParamComms told;
  const auto number_at = [&values](std::size_t place) {
    const auto number = integer_of(std::string_view{values[place]});
    return number && *number >= 0 ? *number : -1;
  };
  told.sequence = number_at(first);
  told.rank = number_at(first + 2);
  told.names_root = types.size() - first >= with_first_rank;
  return told;
}

bool is_pair_operator(std::string_view name) { return name == "c10d::send" || name == "c10d::recv_"; }

std::int64_t partner_from(const RecordedInputs& inputs) {
  const std::vector<std::string> types = texts_from(inputs.types);
  const std::vector<std::string> values = texts_from(inputs.values);
  if (types.size() != 4 || values.size() != 4 || types[2] != scalar || types[3] != scalar) return -1;
  const auto number = integer_of(std::string_view{values[2]});
  return number && *number >= 0 ? *number : -1;
}

TensorInputs tensor_inputs_from(const RecordedInputs& inputs) {
  TensorInputs told;
  for_each_item(inputs.dims, [&told](const Value& tensor) {
    if (tensor.raw.size() > 2)
      told.elements = std::min(std::max<std::int64_t>(told.elements, 0) + elements_in(tensor.raw), most_elements);
  });
  for_each_item(inputs.types, [&told](const Value& type) {
    if (told.type.bytes == 0) told.type = element_type_from(type.raw);
  });
  return told;
}

}  // namespace rankscope::analyzer::kineto
