// Recording -> NAME.rankscope.tar.zst
#include "rankscope/analyzer/pack.h"

#include <algorithm>
#include <istream>
#include <vector>

#include "pack/scratch_file.h"
#include "pack/tar.h"
#include "pack/zstd_file.h"
#include "rankscope/core/format.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/secrets.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;
using recording::Secrets;

constexpr std::size_t copy_bytes = 1 << 20;

class Packer {
 public:
  Packer(const fs::path& source, OutputFile& out, Secrets secrets) : source_(source), zstd_(out), secrets_(secrets) {
    folder_ = (source.has_filename() ? source : source.parent_path()).filename().string();
  }

  [[nodiscard]] PackSummary summary() const { return summary_; }

  Result<void> manifest() {
    std::error_code error;
    if (!fs::exists(source_ / recording::manifest_name, error)) return {};  // its reader counts that it is missing
    auto manifest = recording::read_manifest(source_);
    if (!manifest) {  // nothing in it can be trusted, and a secret in it could not be found
      manifest = recording::Manifest{};
      recording::add_loss(*manifest, Counter::manifest_damaged, 1);
    }
    // Where its segments were meant to come from means nothing elsewhere; that they are missing does.
    recording::add_loss(*manifest, Counter::not_gathered,
                        recording::spools_waiting_for(source_).size() + (manifest->spooled ? 1U : 0U));
    manifest->spooled.reset();
    manifest->gathered.clear();
    if (secrets_ == Secrets::hide) scrub_manifest(*manifest);
    const std::string text = recording::text_of(*manifest);
    RS_TRY_VOID(begin_member(recording::manifest_name, text.size()));
    RS_TRY_VOID(zstd_.write(text));
    return end_member(text.size());
  }

  /// The size of a member stands before its bytes, so that a copy without a name is made first.
  Result<void> segment(const fs::path& path, const fs::path& scratch) {
    RS_TRY(ScratchFile copy, ScratchFile::create(scratch));
    RS_TRY(const recording::GatherSummary gathered, recording::gather_into(path, copy.stream(), secrets_));
    RS_TRY_VOID(copy.rewind());
    summary_.secrets_hidden += gathered.secrets_hidden;
    return member(copy.stream(), gathered.bytes, format("{}/{}", recording::segment_folder, path.filename().string()));
  }

  Result<void> finish() {
    RS_TRY_VOID(zstd_.write(tar::end_of_archive()));
    return zstd_.finish();
  }

 private:
  void hide(std::string& text) { summary_.secrets_hidden += hide_secrets(text); }

  void scrub_manifest(recording::Manifest& manifest) {
    const auto before = manifest.command;
    manifest.command = scrub(manifest.command);
    for (std::size_t i = 0; i < before.size(); ++i)
      summary_.secrets_hidden += before[i] != manifest.command[i] ? 1U : 0U;
    for (auto& [key, value] : manifest.metadata) {
      if (names_secret(key)) {
        summary_.secrets_hidden += 1;
        value.assign(value.size(), '*');
      }
      hide(value);
    }
  }

  Result<void> begin_member(const std::string& name, std::uint64_t bytes) {
    RS_TRY(const std::string header, tar::header_of({.name = folder_ + "/" + name, .bytes = bytes}));
    return zstd_.write(header);
  }

  Result<void> end_member(std::uint64_t bytes) {
    ++summary_.files;
    summary_.bytes_in += bytes;
    return zstd_.write(tar::padding_after(bytes));
  }

  Result<void> member(std::istream& in, std::uint64_t bytes, const std::string& name) {
    RS_TRY_VOID(begin_member(name, bytes));
    std::vector<char> buffer(copy_bytes);
    for (std::uint64_t rest = bytes; rest > 0;) {
      in.read(buffer.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(rest, buffer.size())));
      if (in.gcount() <= 0) return fail(ErrorKind::unreadable, format("cannot read the copy of {}", name));
      RS_TRY_VOID(zstd_.write({buffer.data(), static_cast<std::size_t>(in.gcount())}));
      rest -= static_cast<std::uint64_t>(in.gcount());
    }
    return end_member(bytes);
  }

  fs::path source_;
  std::string folder_;
  ZstdWriter zstd_;
  Secrets secrets_;
  PackSummary summary_;
};

/// Beside the pack, where there must be room for it anyway; what goes to stdout leaves nothing in the current folder.
fs::path scratch_parent(const fs::path& out) {
  std::error_code failed;
  if (is_stdout(out)) return fs::temp_directory_path(failed);
  return out.has_parent_path() ? out.parent_path() : fs::path{"."};
}

}  // namespace

Result<PackSummary> pack_recording(const fs::path& recording, const fs::path& out, Secrets secrets,
                                   const Progress& progress) {
  const std::vector<fs::path> segments = recording::segments_of(recording);
  RS_TRY_VOID(recording::read_recording(recording).map([](const auto&) {}));  // names what cannot be read
  RS_TRY(auto file, OutputFile::create(out));
  const fs::path scratch = scratch_parent(out);
  Packer packer{recording, file, secrets};
  RS_TRY_VOID(packer.manifest());
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (progress && !progress(static_cast<double>(i) / static_cast<double>(segments.size())))
      return fail(ErrorKind::cannot_write,
                  format("{}: packing was cancelled; {}", is_stdout(out) ? "stdout" : out.string(),
                         is_stdout(out) ? "the output is incomplete" : "nothing was written"));
    RS_TRY_VOID(packer.segment(segments[i], scratch));
  }
  RS_TRY_VOID(packer.finish());
  RS_TRY_VOID(file.commit());
  if (progress) progress(1.0);
  return packer.summary();
}

}  // namespace rankscope::analyzer
