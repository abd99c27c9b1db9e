// Compiling schemas of the payload extension to field lists.
#include <algorithm>
#include <array>
#include <atomic>
#include <cwchar>
#include <optional>

#include "inject/nvtx/payload.h"

namespace rankscope::inject {
namespace {

std::atomic<std::uint64_t> next_id{NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START};

/// What NCCL calls its fields, and what they are called here. By name, since its schema ids have moved.
struct NcclName {
  std::string_view theirs;
  std::string_view ours;
};
constexpr std::array nccl_names{
    NcclName{"NCCL communicator ID", "communicator"},
    NcclName{"Parent NCCL communicator ID", "parent"},
    NcclName{"Message size [bytes]", "bytes"},
    NcclName{"Root", "root"},
    NcclName{"Peer rank", "peer"},
    NcclName{"Reduction operation", "redop"},
    NcclName{"No. of ranks", "nranks"},
    NcclName{"No. of devices", "ndevices"},
    NcclName{"Rank", "rank"},
    NcclName{"CUDA device", "device"},
    NcclName{"Color", "split_color"},
    NcclName{"Key", "split_key"},
};

std::string key_of(const Domain& domain, const nvtxPayloadSchemaEntry_t& entry, std::size_t index) {
  const std::string_view name = entry.name == nullptr ? std::string_view{} : std::string_view{entry.name};
  if (name.empty()) return "field" + std::to_string(index);
  if (domain.is_nccl) {
    const auto* const known = std::ranges::find(nccl_names, name, &NcclName::theirs);
    if (known != nccl_names.end()) return std::string{known->ours};
  }
  return std::string{name};
}

struct Kind {
  FieldType type;
  std::uint32_t bytes;
};
constexpr Kind signed_of(std::size_t bytes) { return {FieldType::signed_number, static_cast<std::uint32_t>(bytes)}; }
constexpr Kind unsigned_of(std::size_t bytes) {
  return {FieldType::unsigned_number, static_cast<std::uint32_t>(bytes)};
}

struct KindOfType {
  std::uint64_t type;
  Kind kind;
};
constexpr std::array kinds_of_types{
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_CHAR, signed_of(1)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_INT8, signed_of(1)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_UCHAR, unsigned_of(1)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_UINT8, unsigned_of(1)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_CHAR8, unsigned_of(1)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_BYTE, unsigned_of(1)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_SHORT, signed_of(sizeof(short))},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_USHORT, unsigned_of(sizeof(short))},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_INT, signed_of(sizeof(int))},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_UINT, unsigned_of(sizeof(int))},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_LONG, signed_of(sizeof(long))},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_ULONG, unsigned_of(sizeof(long))},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG, signed_of(8)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_INT64, signed_of(8)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_INT16, signed_of(2)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_UINT16, unsigned_of(2)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_CHAR16, unsigned_of(2)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_INT32, signed_of(4)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_UINT32, unsigned_of(4)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_CHAR32, unsigned_of(4)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, unsigned_of(4)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, unsigned_of(4)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT32, unsigned_of(4)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT32, unsigned_of(4)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG, unsigned_of(8)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_UINT64, unsigned_of(8)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_SCOPE_ID, unsigned_of(8)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_PID_UINT64, unsigned_of(8)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_TID_UINT64, unsigned_of(8)},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_SIZE, unsigned_of(sizeof(std::size_t))},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS, Kind{FieldType::identity, sizeof(void*)}},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_WCHAR, unsigned_of(sizeof(wchar_t))},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, Kind{FieldType::real, 4}},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_FLOAT32, Kind{FieldType::real, 4}},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, Kind{FieldType::real, 8}},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_FLOAT64, Kind{FieldType::real, 8}},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, Kind{FieldType::string, sizeof(char*)}},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, Kind{FieldType::string, sizeof(char*)}},
    KindOfType{NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, Kind{FieldType::registered, sizeof(void*)}},
};

std::optional<Kind> kind_of(std::uint64_t type) {
  const auto* const found = std::ranges::find(kinds_of_types, type, &KindOfType::type);
  return found == kinds_of_types.end() ? std::nullopt : std::optional{found->kind};
}

constexpr std::uint64_t array_flags = 7ULL << 4;
constexpr std::uint64_t indirection_flags = NVTX_PAYLOAD_ENTRY_FLAG_POINTER | NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_BASE |
                                            NVTX_PAYLOAD_ENTRY_FLAG_OFFSET_FROM_HERE;

bool is_text(std::uint64_t type) {
  return type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING || type == NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8;
}

/// Adds the entries of one schema, one behind the other by natural alignment where they tell no offset.
class Compiler {
 public:
  Compiler(const Domain& domain, const nvtxPayloadSchemaAttr_t& from, PayloadSchema& to)
      : domain_(domain),
        pack_((from.fieldMask & NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT) != 0 ? from.packAlign : 0),
        to_(to) {}

  void add(const nvtxPayloadSchemaEntry_t& entry, std::size_t index) {
    if (!to_.decodable) return;
    const std::string key = key_of(domain_, entry, index);
    const std::uint64_t array = entry.flags & array_flags;
    const std::uint64_t length = entry.arrayOrUnionDetail;
    if (is_text(entry.type) && (entry.flags & indirection_flags) == 0 &&
        array <= NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE && length > 0) {
      return place(entry, {.key = key, .type = FieldType::characters, .bytes = static_cast<std::uint32_t>(length)}, 1,
                   index);
    }
    if (entry.type == NVTX_PAYLOAD_ENTRY_TYPE_CHAR && array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE) {
      return place(entry, {.key = key, .type = FieldType::characters, .bytes = static_cast<std::uint32_t>(length)}, 1,
                   index);
    }
    const bool pointed_text =
        is_text(entry.type) && (entry.flags & indirection_flags & ~std::uint64_t{NVTX_PAYLOAD_ENTRY_FLAG_POINTER}) == 0;
    if (array == NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE) return add_array(entry, key, index);
    if (!pointed_text && (array != 0 || (entry.flags & indirection_flags) != 0)) return give_up();
    add_single(entry, key, index);
  }

  /// Room of the whole struct, with its tail padding.
  [[nodiscard]] std::uint32_t size() const { return aligned(end_, to_.alignment); }

 private:
  void give_up() { to_.decodable = false; }
  static std::uint32_t aligned(std::uint32_t offset, std::uint32_t alignment) {
    return (offset + alignment - 1) / alignment * alignment;
  }

  std::uint32_t offset_of(const nvtxPayloadSchemaEntry_t& entry, std::uint32_t alignment, std::size_t index) {
    if (pack_ > 0) alignment = std::min(alignment, static_cast<std::uint32_t>(pack_));
    to_.alignment = std::max(to_.alignment, alignment);
    if (entry.offset != 0 || index == 0) return static_cast<std::uint32_t>(entry.offset);
    return aligned(end_, alignment);
  }

  void place(const nvtxPayloadSchemaEntry_t& entry, PayloadField field, std::uint32_t alignment, std::size_t index) {
    field.offset = offset_of(entry, alignment, index);
    end_ = field.offset + field.bytes;
    to_.fields.push_back(std::move(field));
  }

  void add_single(const nvtxPayloadSchemaEntry_t& entry, const std::string& key, std::size_t index) {
    if (const PayloadEnum* const names =
            domain_.enums.find(entry.type)) {  // before schemas: NCCL 2.25 gave one id to both
      return place_enum(entry, key, static_cast<std::uint32_t>(names->bytes), index);
    }
    if (const PayloadSchema* const nested = domain_.schemas.find(entry.type))
      return add_nested(entry, *nested, key, index);
    // NCCL registers its enumerations with the first communicator, after its first schemas: the size of a C enum is
    // taken.
    if (entry.type >= NVTX_PAYLOAD_SCHEMA_ID_STATIC_START) return place_enum(entry, key, sizeof(int), index);
    const auto kind = kind_of(entry.type);
    if (!kind) return give_up();
    // A communicator is known by its hash; NCCL logs print it in hexadecimal.
    const bool is_identity = domain_.is_nccl && (key == "communicator" || key == "parent");
    place(entry, {.key = key, .type = is_identity ? FieldType::identity : kind->type, .bytes = kind->bytes},
          kind->bytes, index);
  }

  void place_enum(const nvtxPayloadSchemaEntry_t& entry, const std::string& key, std::uint32_t bytes,
                  std::size_t index) {
    place(entry, {.key = key, .type = FieldType::enumeration, .bytes = bytes, .enumeration = entry.type}, bytes, index);
  }

  void add_nested(const nvtxPayloadSchemaEntry_t& entry, const PayloadSchema& nested, const std::string& key,
                  std::size_t index) {
    if (!nested.decodable) return give_up();
    const std::uint32_t base = offset_of(entry, nested.alignment, index);
    for (PayloadField field : nested.fields) {
      field.key = key + "." + field.key;
      field.offset += base;
      to_.fields.push_back(std::move(field));
    }
    end_ = base + nested.bytes;
  }

  void add_array(const nvtxPayloadSchemaEntry_t& entry, const std::string& key, std::size_t index) {
    constexpr std::uint64_t longest = 16;  // each element becomes an attribute
    const auto kind = kind_of(entry.type);
    if (!kind || (entry.flags & indirection_flags) != 0 || entry.arrayOrUnionDetail > longest) return give_up();
    const std::uint32_t base = offset_of(entry, kind->bytes, index);
    for (std::uint32_t i = 0; i < entry.arrayOrUnionDetail; ++i) {
      to_.fields.push_back({.key = key + "[" + std::to_string(i) + "]",
                            .type = kind->type,
                            .offset = base + i * kind->bytes,
                            .bytes = kind->bytes});
    }
    end_ = base + static_cast<std::uint32_t>(entry.arrayOrUnionDetail) * kind->bytes;
  }

  const Domain& domain_;
  std::size_t pack_;
  PayloadSchema& to_;
  std::uint32_t end_ = 0;
};

bool has(std::uint64_t mask, std::uint64_t bit) { return (mask & bit) != 0; }

}  // namespace

std::uint64_t register_schema(Domain& domain, const nvtxPayloadSchemaAttr_t& from) {
  auto* const schema = new PayloadSchema;
  schema->id = has(from.fieldMask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID) ? from.schemaId : next_id.fetch_add(1);
  if (has(from.fieldMask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME) && from.name != nullptr) schema->name = from.name;
  schema->decodable = from.entries != nullptr && has(from.fieldMask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES) &&
                      from.type == NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  Compiler compiler{domain, from, *schema};
  for (std::size_t i = 0; schema->decodable && i < from.numEntries; ++i) compiler.add(from.entries[i], i);
  // The size of the values, without what may come behind them: NCCL grows its structs at the end.
  schema->bytes = compiler.size();
  for (const PayloadField& field : schema->fields) schema->bytes = std::max(schema->bytes, field.offset + field.bytes);
  if (has(from.fieldMask, NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE) && from.payloadStaticSize > 0) {
    schema->bytes = std::max(static_cast<std::uint32_t>(from.payloadStaticSize), schema->fields.empty() ? 0U : 1U);
    for (const PayloadField& field : schema->fields) {
      if (field.offset + field.bytes > schema->bytes) schema->decodable = false;
    }
  }
  domain.schemas.add(schema);
  return schema->id;
}

std::uint64_t register_enum(Domain& domain, const nvtxPayloadEnumAttr_t& from) {
  auto* const names = new PayloadEnum;
  names->id = has(from.fieldMask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID) ? from.schemaId : next_id.fetch_add(1);
  if (has(from.fieldMask, NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE) && from.sizeOfEnum > 0 && from.sizeOfEnum <= 8) {
    names->bytes = from.sizeOfEnum;
  }
  for (std::size_t i = 0; from.entries != nullptr && i < from.numEntries; ++i) {
    const nvtxPayloadEnum_t& entry = from.entries[i];
    names->names.emplace_back(entry.value, entry.name == nullptr ? std::string{} : std::string{entry.name});
  }
  domain.enums.add(names);
  return names->id;
}

}  // namespace rankscope::inject
