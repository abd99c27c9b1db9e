#include "importers/shared/file_head.h"

#include <array>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "importers/shared/gzip_stream.h"
#include "rankscope/core/format.h"

namespace rankscope::analyzer {
namespace {

constexpr std::size_t head_size = std::size_t{64} << 10;

/// As they stand in the file.
Result<std::string> first_bytes(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  if (!file)
    return fail(ErrorKind::unreadable,
                format("cannot read {}: {}", path.string(), std::generic_category().message(errno)));
  std::string head(head_size, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head;
}

}  // namespace

Result<std::string> file_head(const std::filesystem::path& path) {
  const auto head = first_bytes(path);
  if (!head || !head->starts_with(gzip_magic)) return head;
  std::string unpacked(head_size, '\0');
  unpacked.resize(GzipStream{*head}.read(unpacked));
  return unpacked;
}

std::string_view why_no_head(const std::filesystem::path& path) {
  const auto head = first_bytes(path);
  if (!head || head->empty()) return "is empty";
  GzipStream stream{*head};
  std::array<char, 1> byte{};
  const bool damaged = stream.read(byte) == 0 && stream.incomplete();
  return damaged ? "is damaged: nothing in it can be unpacked" : "is empty";
}

}  // namespace rankscope::analyzer
