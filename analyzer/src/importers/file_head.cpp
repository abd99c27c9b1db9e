#include "importers/file_head.h"

#include <zlib.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t head_size = std::size_t{64} << 10;
constexpr int most_layers = 4;

/// What can be unpacked of the front of a gzip file.
std::string unpack_front(std::string packed) {
  std::string head(head_size, '\0');
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(head.data());
  stream.avail_out = static_cast<uInt>(head.size());
  constexpr int gzip_only = 16 + MAX_WBITS;
  if (inflateInit2(&stream, gzip_only) != Z_OK) return {};
  inflate(&stream, Z_SYNC_FLUSH);
  head.resize(head.size() - stream.avail_out);
  inflateEnd(&stream);
  return head;
}

}  // namespace

Result<std::string> file_head(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file)
    return fail(ErrorKind::unreadable,
                format("cannot read {}: {}", path.string(), std::generic_category().message(errno)));
  std::string head(head_size, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  for (int layer = 0; layer < most_layers && head.starts_with("\x1f\x8b"); ++layer)
    head = unpack_front(std::move(head));
  return head;
}

}  // namespace rankscope::analyzer
