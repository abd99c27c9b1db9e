// The bytes of a safetensors file -> its header. What is accepted must lie in the file, without gaps, and be written
// the same again.
#include <cstdlib>

#include "fuzz/fuzz_target.h"
#include "rankscope/trainer/checkpoint/safetensors.h"

using namespace rankscope::trainer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const rankscope::fuzz::Folder folder;
  const auto header = read_safetensors_header(folder.write("a.safetensors", {data, size}));
  if (!header) {
    if (header.error().message.empty()) std::abort();  // an error without a sentence helps nobody
    return 0;
  }
  const std::span bytes{reinterpret_cast<const std::byte*>(data), size};
  std::vector<TensorBytes> tensors;
  for (const StoredTensor& tensor : header->tensors)
    tensors.push_back({tensor.info, bytes.subspan(header->data_begin + tensor.begin, tensor.end - tensor.begin)});
  const std::string head = safetensors_head(tensors, header->metadata);
  const auto again = parse_safetensors_header(std::string_view{head}.substr(8), size - header->data_begin, "again");
  if (!again || again->metadata != header->metadata || again->tensors.size() != tensors.size()) std::abort();
  for (const StoredTensor& tensor : again->tensors)
    if (tensor.end > size - header->data_begin) std::abort();
  return 0;
}
