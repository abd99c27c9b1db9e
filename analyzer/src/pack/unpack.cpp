// NAME.tar.zst -> Run
#include <algorithm>
#include <array>
#include <fstream>
#include <vector>

#include "pack/scratch_folder.h"
#include "pack/tar.h"
#include "pack/text_file.h"
#include "pack/unpack.h"
#include "pack/zstd_file.h"
#include "rankscope/analyzer/pack.h"
#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/regular_file.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t unpacked_bytes = 1 << 20;
constexpr std::uint64_t most_growth = 200;
constexpr std::uint64_t least_bound = std::uint64_t{256} << 20U;

/// Where a member of a pack belongs; empty for what no pack has. Only the last part of its name is used, so that no
/// archive writes outside the folder.
fs::path place_of(const tar::Member& member) {
  const fs::path name = fs::path{member.name}.filename();
  if (name == recording::manifest_name || name == text_member) return name;
  if (name.extension() == recording::segment_suffix) return fs::path{recording::segment_folder} / name;
  return {};
}

class Unpacker {
 public:
  Unpacker(ZstdReader& in, std::string shown, fs::path target, std::uint64_t most_bytes)
      : in_(in), shown_(std::move(shown)), target_(std::move(target)), most_bytes_(most_bytes) {}

  Result<void> run() {
    std::array<char, tar::block_bytes> block{};
    while (true) {
      RS_TRY(const std::size_t bytes, in_.read(block));
      if (bytes == 0 && files_ > 0) return {};
      RS_TRY_VOID(count(bytes));
      tar::Member member;
      const auto kind = bytes == block.size() ? tar::read_header(block, member) : tar::BlockKind::broken;
      if (kind == tar::BlockKind::end && files_ > 0) return drain();
      if (kind != tar::BlockKind::member) return no_pack();
      RS_TRY_VOID(copy(member));
    }
  }

 private:
  [[nodiscard]] tl::unexpected<Error> no_pack() const {
    return fail(ErrorKind::unreadable, format("{} is not a pack (`rankscope pack` writes NAME.tar.zst)", shown_));
  }

  /// The checksum of the whole stands at its end.
  Result<void> drain() {
    std::array<char, tar::block_bytes> rest{};
    for (std::size_t bytes = 1; bytes > 0;) {
      RS_TRY(bytes, in_.read(rest));
      RS_TRY_VOID(count(bytes));
    }
    return {};
  }

  /// Everything that is unpacked is counted before: what members claim to hold, their headers and what fills blocks.
  Result<void> count(std::uint64_t bytes) {
    if (bytes <= most_bytes_ - bytes_) {
      bytes_ += bytes;
      return {};
    }
    return fail(ErrorKind::unreadable, format("{} would unpack to more than {} MB, which is too much for a recording; "
                                              "if you trust it, unpack it with tar --zstd -x and open the folder",
                                              shown_, most_bytes_ / 1'000'000));
  }

  Result<void> copy(const tar::Member& member) {
    const std::size_t padding = tar::padding_after(member.bytes).size();
    RS_TRY_VOID(count(member.bytes));
    RS_TRY_VOID(count(padding));
    const fs::path place = member.is_file ? place_of(member) : fs::path{};
    std::ofstream out;
    if (!place.empty()) {
      out.open(target_ / place, std::ios::binary);
      ++files_;
    }
    std::uint64_t rest = member.bytes + padding;
    std::uint64_t data = member.bytes;
    while (rest > 0) {
      const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(rest, buffer_.size()));
      RS_TRY(const std::size_t got, in_.read(std::span{buffer_}.first(want)));
      if (got != want) return fail(ErrorKind::unreadable, format("{} is cut off in the middle; copy it again", shown_));
      if (!place.empty()) out.write(buffer_.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(got, data)));
      data -= std::min<std::uint64_t>(got, data);
      rest -= got;
    }
    if (place.empty()) return {};
    out.close();
    if (!out)
      return fail(ErrorKind::cannot_write, format("cannot unpack {} into {}; set TMPDIR to a folder with more space",
                                                  shown_, target_.parent_path().string()));
    return {};
  }

  ZstdReader& in_;
  std::string shown_;
  fs::path target_;
  std::uint64_t most_bytes_;
  std::uint64_t bytes_ = 0;
  std::size_t files_ = 0;
  std::vector<char> buffer_ = std::vector<char>(unpacked_bytes);
};

/// Recordings shrink to a fifth or a tenth; a small file that fills a disk is an attack or damage.
std::uint64_t most_bytes_of(const fs::path& pack) {
  std::error_code failed;
  const std::uint64_t own = fs::file_size(pack, failed);
  return failed ? least_bound : std::max(least_bound, own * most_growth);
}

/// Messages are to name the pack, not the folder that is gone when they are read.
Error renamed(Error error, const fs::path& folder, const fs::path& pack) {
  const std::string from = folder.string();
  for (auto at = error.message.find(from); at != std::string::npos; at = error.message.find(from))
    error.message.replace(at, from.size(), pack.string());
  return error;
}

/// NAME of NAME.tar.zst; never a name that leads out of a folder.
fs::path unpacked_name(const fs::path& pack) {
  fs::path name = pack.filename();
  for (const char* suffix : {".zst", ".tar"})
    if (name.extension() == suffix) name = name.stem();
  return name.empty() || name == "." || name == ".." ? fs::path{"recording"} : name;
}

}  // namespace

bool looks_like_pack(const fs::path& path) {
  constexpr std::array<char, 4> zstd_magic{'\x28', '\xB5', '\x2F', '\xFD'};
  std::array<char, 4> head{};
  if (is_special_file(path)) return false;
  std::ifstream file{path, std::ios::binary};
  return file.read(head.data(), head.size()) && head == zstd_magic;
}

Result<fs::path> unpack(const fs::path& pack, const fs::path& scratch) {
  RS_TRY(const auto in, ZstdReader::open(pack));
  const fs::path folder = scratch / unpacked_name(pack);
  std::error_code error;
  fs::create_directories(folder / recording::segment_folder, error);
  if (error) return fail(ErrorKind::cannot_write, format("cannot unpack {}: {}", pack.string(), error.message()));
  RS_TRY_VOID((Unpacker{*in, pack.string(), folder, most_bytes_of(pack)}.run()));
  return folder;
}

Result<std::shared_ptr<const Run>> read_pack(const fs::path& path, const ImportOptions& options) {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  if (error) return fail(ErrorKind::cannot_write, format("cannot unpack {}: TMPDIR is not a folder", path.string()));
  RS_TRY(const auto scratch, ScratchFolder::create(base));
  RS_TRY(const fs::path folder, unpack(path, scratch.path()));
  const fs::path text = folder / text_member;
  auto run = fs::exists(text, error) ? read_text_file(text, options) : recording::read_recording(folder, options.texts);
  return std::move(run).map_error(
      [&](Error found) { return renamed(renamed(std::move(found), text, path), folder, path); });
}

}  // namespace rankscope::analyzer
