// NVTX payload extension: schemas are compiled to field lists when they are registered, payloads are decoded at the
// call, since their memory lives only so long.
#pragma once

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "inject/nvtx/attribute_pen.h"
#include "inject/nvtx/objects.h"

namespace rankscope::inject {

/// A registered enumeration.
struct PayloadEnum {
  PayloadEnum* next = nullptr;
  std::uint64_t id = 0;
  std::size_t bytes = 4;
  std::vector<std::pair<std::uint64_t, std::string>> names;
};

enum class FieldType : std::uint8_t {
  signed_number,
  unsigned_number,
  real,
  enumeration,
  identity,    ///< a number that is shown in hexadecimal: a communicator's hash
  characters,  ///< char array inside the payload
  string,      ///< pointer to a NUL-terminated text
  registered,  ///< handle of a registered string
};

/// One value of a payload: where it is and what it is called.
struct PayloadField {
  std::string key;
  FieldType type = FieldType::signed_number;
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;        ///< of one element
  std::uint64_t enumeration = 0;  ///< id; programs may register it after the schema
};

struct PayloadSchema {
  PayloadSchema* next = nullptr;
  std::uint64_t id = 0;
  std::uint32_t bytes = 0;  ///< a payload that is shorter is not decoded
  std::uint32_t alignment = 1;
  std::string name;
  bool decodable = true;  ///< unions, pointers to structs and dynamic layouts are not
  std::vector<PayloadField> fields;
};

/// Registers; the id is the program's own, or a new one.
std::uint64_t register_schema(Domain& domain, const nvtxPayloadSchemaAttr_t& schema);
std::uint64_t register_enum(Domain& domain, const nvtxPayloadEnumAttr_t& enumeration);

/// Decodes payloads into attributes. NCCL's also tell the rank of this process.
void write_payloads(const AttributePen& pen, const Domain& domain, std::span<const nvtxPayloadData_t> payloads);

}  // namespace rankscope::inject
