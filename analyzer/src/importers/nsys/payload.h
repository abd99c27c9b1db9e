// NCCL's payloads of NVTX ranges, as Nsight Systems stores them: a header, then a struct that a schema describes.
// Decoded by the names of the entries: schema ids moved between versions of NCCL.
#pragma once

#include <map>
#include <optional>

#include "importers/nsys/database.h"

namespace rankscope::analyzer::nsys {

/// What one payload tells.
struct NcclPayload {
  std::optional<std::uint64_t> communicator{};
  std::optional<std::int64_t> bytes{};
  std::optional<std::int64_t> ranks{};
  std::optional<std::int64_t> rank{};
  std::optional<std::int64_t> device{};
  std::optional<std::int64_t> root{};
  std::optional<std::int64_t> peer{};
  std::optional<std::int64_t> reduction{};
};

class PayloadSchemas {
 public:
  /// Empty where the export has no such tables.
  [[nodiscard]] static Result<PayloadSchemas> read(const Database& database);

  /// Nothing for a payload that is cut, or whose schema is not NCCL's.
  [[nodiscard]] std::optional<NcclPayload> decode(std::span<const std::byte> blob) const;
  [[nodiscard]] bool empty() const { return schemas_.empty(); }
  /// True if a schema of this domain has the entry that only NCCL writes.
  [[nodiscard]] bool is_nccl_domain(std::int64_t domain) const;

 private:
  struct Entry {
    std::optional<std::int64_t> NcclPayload::*field = nullptr;  ///< null: the communicator
    std::size_t offset = 0;
    std::size_t size = 0;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Entry>> schemas_;  // by (domain, schema)
};

/// The bytes of a value that is a BLOB, or hexadecimal text.
[[nodiscard]] std::vector<std::byte> payload_bytes(const Rows& rows, int column);

}  // namespace rankscope::analyzer::nsys
