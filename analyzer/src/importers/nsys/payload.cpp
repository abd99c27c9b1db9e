#include "importers/nsys/payload.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace rankscope::analyzer::nsys {
namespace {

// Nsight's header, little endian: u32 domain, u32, u32 schema, u32, u64 payload size, u64 total size.
constexpr std::size_t domain_at = 0;
constexpr std::size_t schema_at = 8;
constexpr std::size_t size_at = 16;
constexpr std::size_t header_size = 32;

constexpr std::string_view communicator_entry = "NCCL communicator ID";

struct Known {
  std::string_view name;
  std::optional<std::int64_t> NcclPayload::*field;
  std::size_t size;
};
constexpr std::array known_entries{
    Known{communicator_entry, nullptr, 8},         Known{"Message size [bytes]", &NcclPayload::bytes, 8},
    Known{"No. of ranks", &NcclPayload::ranks, 4}, Known{"Rank", &NcclPayload::rank, 4},
    Known{"CUDA device", &NcclPayload::device, 4}, Known{"Root", &NcclPayload::root, 4},
    Known{"Peer rank", &NcclPayload::peer, 4},     Known{"Reduction operation", &NcclPayload::reduction, 4},
};

template <class T>
T load(std::span<const std::byte> bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

int digit(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
  return -1;
}

}  // namespace

std::vector<std::byte> payload_bytes(const Rows& rows, int column) {
  const std::span<const std::byte> raw = rows.bytes(column);
  const std::string_view text{reinterpret_cast<const char*>(raw.data()), raw.size()};
  const bool hexadecimal = text.size() >= 2 * header_size && text.size() % 2 == 0 &&
                           std::ranges::all_of(text, [](char letter) { return digit(letter) >= 0; });
  if (!hexadecimal) return {raw.begin(), raw.end()};
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(digit(text[i]) * 16 + digit(text[i + 1])));
  return bytes;
}

Result<PayloadSchemas> PayloadSchemas::read(const Database& database) {
  PayloadSchemas schemas;
  constexpr std::string_view table = "NVTX_PAYLOAD_SCHEMA_ENTRIES";
  if (!database.has(table)) return schemas;
  constexpr std::array<std::string_view, 4> columns{"domainId", "schemaId", "name", "offset"};
  RS_TRY(Rows rows, database.rows(table, columns));
  while (rows.next()) {
    const auto known = std::ranges::find(known_entries, rows.text(2), &Known::name);
    const std::int64_t offset = rows.integer_or(3, 0);  // NULL is 0
    constexpr std::int64_t largest = 4096;
    if (known == known_entries.end() || offset < 0 || offset > largest) continue;
    auto& entries = schemas.schemas_[{rows.integer_or(0, 0), rows.integer_or(1, 0)}];
    const bool repeated = std::ranges::any_of(entries, [&](const Entry& entry) { return entry.field == known->field; });
    if (!repeated) entries.push_back({known->field, static_cast<std::size_t>(offset), known->size});
  }
  RS_TRY_VOID(rows.finish());
  return schemas;
}

std::optional<NcclPayload> PayloadSchemas::decode(std::span<const std::byte> blob) const {
  if (blob.size() < header_size) return std::nullopt;
  const std::pair key{static_cast<std::int64_t>(load<std::uint32_t>(blob, domain_at)),
                      static_cast<std::int64_t>(load<std::uint32_t>(blob, schema_at))};
  const auto schema = schemas_.find(key);
  if (schema == schemas_.end()) return std::nullopt;
  const std::span<const std::byte> payload = blob.subspan(header_size);
  if (load<std::uint64_t>(blob, size_at) > payload.size()) return std::nullopt;
  NcclPayload decoded;
  for (const Entry& entry : schema->second) {
    if (entry.offset + entry.size > payload.size()) return std::nullopt;
    if (entry.field == nullptr)
      decoded.communicator = load<std::uint64_t>(payload, entry.offset);
    else if (entry.size == 8)
      decoded.*entry.field = load<std::int64_t>(payload, entry.offset);
    else
      decoded.*entry.field = load<std::int32_t>(payload, entry.offset);
  }
  return decoded;
}

bool PayloadSchemas::is_nccl_domain(std::int64_t domain) const {
  return std::ranges::any_of(schemas_, [domain](const auto& schema) {
    return schema.first.first == domain &&
           std::ranges::any_of(schema.second, [](const Entry& entry) { return entry.field == nullptr; });
  });
}

}  // namespace rankscope::analyzer::nsys
