#include "checkpoint/tensor_json.h"

#include "rankscope/core/format.h"

namespace rankscope::trainer {

Result<TensorInfo> tensor_info_from(const Fields& fields, std::string name) {
  TensorInfo info{.name = std::move(name)};
  RS_TRY(const std::string dtype, fields.text("dtype"));
  const auto type = element_type_named(dtype);
  if (!type) return fields.wrong(format("the type {} is not known", in_quotes(dtype)));
  info.type = *type;
  RS_TRY(const Json* const shape, fields.list("shape"));
  for (const Json& size : *shape) {
    const bool fits = size.is_number_unsigned() && size.get<std::uint64_t>() <= std::uint64_t{INT64_MAX};
    if (!fits) return fields.wrong("its shape has a size that is no number from 0 on");
    info.shape.push_back(size.get<std::int64_t>());
  }
  if (!elements_of(info)) return fields.wrong("its shape has more elements than can be counted");
  return info;
}

}  // namespace rankscope::trainer
