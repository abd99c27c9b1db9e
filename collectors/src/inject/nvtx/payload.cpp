// Decoding payloads at the call.
#include "inject/nvtx/payload.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "inject/recorder/recorder.h"

namespace rankscope::inject {
namespace {

using Text = std::array<char, 32>;

/// An unsigned number of 1, 2, 4 or 8 bytes at any address; padding around it may hold garbage.
std::uint64_t number_at(const std::byte* at, std::uint32_t bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, at, std::min<std::size_t>(bytes, sizeof value));  // little-endian
  return value;
}

std::int64_t signed_at(const std::byte* at, std::uint32_t bytes) {
  const std::uint64_t value = number_at(at, bytes);
  const unsigned shift = 64 - 8 * std::min<std::uint32_t>(bytes, 8);
  return static_cast<std::int64_t>(value << shift) >> shift;
}

double real_at(const std::byte* at, std::uint32_t bytes) {
  if (bytes == sizeof(float)) {
    float value = 0;
    std::memcpy(&value, at, sizeof value);
    return static_cast<double>(value);
  }
  double value = 0;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::string_view hexadecimal(std::uint64_t value, Text& text) {
  text[0] = '0';
  text[1] = 'x';
  const auto [end, error] = std::to_chars(text.data() + 2, text.data() + text.size(), value, 16);
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

void write_named(const AttributePen& pen, const Domain& domain, const PayloadField& field, std::uint64_t value) {
  const PayloadEnum* const known = domain.enums.find(field.enumeration);
  if (known == nullptr) return pen.attribute(field.key, static_cast<std::int64_t>(value));
  const auto found = std::ranges::find(known->names, value, &std::pair<std::uint64_t, std::string>::first);
  if (found != known->names.end()) return pen.attribute(field.key, std::string_view{found->second});
  pen.attribute(field.key, static_cast<std::int64_t>(value));
}

void write_string(const AttributePen& pen, const PayloadField& field, const std::byte* at) {
  const char* text = nullptr;
  std::memcpy(&text, at, sizeof text);
  if (text != nullptr) pen.attribute(field.key, std::string_view{text});
}

void write_registered(const AttributePen& pen, const PayloadField& field, const std::byte* at) {
  const RegisteredString* string = nullptr;
  std::memcpy(&string, at, sizeof(RegisteredString*));
  if (string != nullptr) pen.attribute(field.key, std::string_view{string->text});
}

void write_field(const AttributePen& pen, const Domain& domain, const PayloadField& field, const std::byte* at) {
  Text text;
  switch (field.type) {
    case FieldType::signed_number:
      return pen.attribute(field.key, signed_at(at, field.bytes));
    case FieldType::unsigned_number:
      return pen.attribute(field.key, static_cast<std::int64_t>(number_at(at, field.bytes)));
    case FieldType::enumeration:
      return write_named(pen, domain, field, number_at(at, field.bytes));
    case FieldType::identity:
      return pen.attribute(field.key, hexadecimal(number_at(at, field.bytes), text));
    case FieldType::string:
      return write_string(pen, field, at);
    case FieldType::registered:
      return write_registered(pen, field, at);
    case FieldType::real: {
      const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), real_at(at, field.bytes));
      return pen.attribute(field.key, std::string_view{text.data(), static_cast<std::size_t>(end - text.data())});
    }
    case FieldType::characters: {
      const char* const begin = reinterpret_cast<const char*>(at);
      return pen.attribute(field.key, std::string_view{begin, strnlen(begin, field.bytes)});
    }
  }
}

/// A communicator this process joined: the payload has both "rank" and "nranks".
void learn_from(const PayloadSchema& schema, const std::byte* data) {
  const auto value = [&](std::string_view key) -> std::int64_t {
    const auto field = std::ranges::find(schema.fields, key, &PayloadField::key);
    return field == schema.fields.end() ? -1 : signed_at(data + field->offset, field->bytes);
  };
  const std::int64_t rank = value("rank");
  const std::int64_t ranks = value("nranks");
  if (rank >= 0 && ranks > 0) learn_rank(static_cast<std::int32_t>(rank), static_cast<std::int32_t>(ranks));
}

/// Types without a registered schema: a payload that is one number or text.
bool write_predefined(const AttributePen& pen, const Domain& domain, const nvtxPayloadData_t& payload) {
  const auto* const data = static_cast<const std::byte*>(payload.payload);
  PayloadField field{.key = "payload", .bytes = static_cast<std::uint32_t>(std::min<std::size_t>(payload.size, 4000))};
  switch (payload.schemaId) {
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING:
    case NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8:
    case NVTX_PAYLOAD_ENTRY_TYPE_CHAR:
      field.type = FieldType::characters;
      if (payload.size == SIZE_MAX) field.bytes = 4000;  // the tool shall find its end
      break;
    case NVTX_PAYLOAD_ENTRY_TYPE_INT:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_INT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_LONGLONG:
      field.type = FieldType::signed_number;
      break;
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT32:
    case NVTX_PAYLOAD_ENTRY_TYPE_UINT64:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_ULONGLONG:
    case NVTX_PAYLOAD_ENTRY_TYPE_SIZE:
      field.type = FieldType::unsigned_number;
      break;
    case NVTX_PAYLOAD_ENTRY_TYPE_FLOAT:
    case NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE:
      field.type = FieldType::real;
      break;
    default:
      return false;
  }
  if (field.type != FieldType::characters && field.bytes != 4 && field.bytes != 8) return false;
  write_field(pen, domain, field, data);
  return true;
}

bool write_payload(const AttributePen& pen, const Domain& domain, const nvtxPayloadData_t& payload) {
  if (payload.payload == nullptr) return false;
  const PayloadSchema* const schema = domain.schemas.find(payload.schemaId);
  if (schema == nullptr) return write_predefined(pen, domain, payload);
  if (!schema->decodable || payload.size < schema->bytes) return false;
  const auto* const data = static_cast<const std::byte*>(payload.payload);
  for (const PayloadField& field : schema->fields) write_field(pen, domain, field, data + field.offset);
  if (domain.is_nccl) learn_from(*schema, data);
  return true;
}

}  // namespace

void write_payloads(const AttributePen& pen, const Domain& domain, std::span<const nvtxPayloadData_t> payloads) {
  for (const nvtxPayloadData_t& payload : payloads) {
    if (!write_payload(pen, domain, payload)) count(Trouble::payloads_undecoded);
  }
}

}  // namespace rankscope::inject
