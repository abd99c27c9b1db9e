// Files of named tensors in the safetensors format: 8 bytes with the length of the header (little-endian), the header
// as JSON {name: {dtype, shape, data_offsets}}, then the tensors' bytes without gaps. Source:
// https://github.com/huggingface/safetensors, "Format".
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/result.h"
#include "rankscope/trainer/checkpoint/tensor.h"

namespace rankscope::trainer {

inline constexpr std::uint64_t largest_safetensors_header = 100'000'000;  ///< bytes; the format's own limit

/// A tensor of a file and its bytes [begin, end), counted from the end of the header.
struct StoredTensor {
  TensorInfo info;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// What the head of a safetensors file says of its tensors.
struct SafetensorsHeader {
  std::vector<StoredTensor> tensors;            ///< in the order of their bytes
  std::map<std::string, std::string> metadata;  ///< "__metadata__", which is free text
  std::uint64_t data_begin = 0;                 ///< where in the file the tensors' bytes begin
};

/// A tensor to be written; `bytes` are all of it.
struct TensorBytes {
  TensorInfo info;
  std::span<const std::byte> bytes;
};

/// The first bytes of a file with these tensors, in this order: length and header, padded to a multiple of 8 bytes.
/// Names must differ and be UTF-8.
[[nodiscard]] std::string safetensors_head(std::span<const TensorBytes> tensors,
                                           const std::map<std::string, std::string>& metadata = {});

/// Checks everything that a header says. `json`: the header without its length; `data_bytes`: how many bytes follow it;
/// `path` is for errors (unreadable), which are one sentence.
[[nodiscard]] Result<SafetensorsHeader> parse_safetensors_header(std::string_view json, std::uint64_t data_bytes,
                                                                 const std::string& path);

/// Reads and checks the header of a file; its tensors are only measured.
[[nodiscard]] Result<SafetensorsHeader> read_safetensors_header(const std::filesystem::path& path);

/// The same for a file that is open for reading.
[[nodiscard]] Result<SafetensorsHeader> read_safetensors_header(int descriptor, const std::string& path);

}  // namespace rankscope::trainer
