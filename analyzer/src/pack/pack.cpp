// Whatever can be opened -> NAME.tar.zst
#include "rankscope/analyzer/pack.h"

#include <algorithm>
#include <istream>
#include <vector>

#include "pack/scratch_file.h"
#include "pack/scratch_folder.h"
#include "pack/tar.h"
#include "pack/text_file.h"
#include "pack/unpack.h"
#include "pack/zstd_file.h"
#include "rankscope/core/format.h"
#include "rankscope/core/model/run.h"
#include "rankscope/core/model/text.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"
#include "rankscope/core/secrets.h"

namespace rankscope::analyzer {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t copy_bytes = 1 << 20;

/// How the folder in the pack is called: as the input.
std::string name_in_pack(const fs::path& source) {
  return (source.has_filename() ? source : source.parent_path()).filename().string();
}

class Packer {
 public:
  Packer(const fs::path& source, OutputFile& out, Texts texts)
      : source_(source), folder_(name_in_pack(source)), zstd_(out), texts_(texts) {}

  [[nodiscard]] PackSummary summary() const { return summary_; }

  /// `hidden`: strings of the recording in which secrets are hidden, now or before.
  Result<void> manifest(std::uint64_t hidden) {
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
    if (texts_ == Texts::without_secrets) scrub_manifest(*manifest, hidden);
    const std::string text = recording::text_of(*manifest);
    RS_TRY_VOID(begin_member(recording::manifest_name, text.size()));
    RS_TRY_VOID(zstd_.write(text));
    return end_member(text.size());
  }

  /// The size of a member stands before its bytes, so that a copy without a name is made first.
  Result<void> segment(const fs::path& path, const fs::path& scratch) {
    RS_TRY(ScratchFile copy, ScratchFile::create(scratch));
    RS_TRY(const recording::GatherSummary gathered, recording::gather_into(path, copy.stream(), texts_));
    RS_TRY_VOID(copy.rewind());
    return member(copy.stream(), gathered.bytes, format("{}/{}", recording::segment_folder, path.filename().string()));
  }

  Result<void> text(const Run& run, const fs::path& scratch) {
    RS_TRY(ScratchFile copy, ScratchFile::create(scratch));
    write_text(run, copy.stream());
    const auto bytes = static_cast<std::uint64_t>(copy.stream().tellp());
    RS_TRY_VOID(copy.rewind());
    return member(copy.stream(), bytes, text_member);
  }

  Result<void> finish() {
    RS_TRY_VOID(zstd_.write(tar::end_of_archive()));
    return zstd_.finish();
  }

 private:
  static void scrub_manifest(recording::Manifest& manifest, std::uint64_t hidden) {
    manifest.command = scrub(manifest.command);
    for (std::string* text : {&manifest.created_by, &manifest.launcher}) hide_secrets(*text);
    for (std::string& host : manifest.hosts) hide_secrets(host);
    for (auto* facts : {&manifest.metadata, &manifest.injected}) {
      for (auto& [key, value] : *facts) {
        if (is_secret_value(key, value)) value.assign(value.size(), '*');
        hide_secrets(key);
        hide_secrets(value);
      }
    }
    std::erase_if(manifest.losses, [](const auto& loss) { return loss.first == info_of(Counter::texts_hidden).name; });
    recording::add_loss(manifest, Counter::texts_hidden, hidden);
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
      if (in.gcount() <= 0) return fail(ErrorKind::unreadable, format("cannot read the temporary copy of {}", name));
      RS_TRY_VOID(zstd_.write({buffer.data(), static_cast<std::size_t>(in.gcount())}));
      rest -= static_cast<std::uint64_t>(in.gcount());
    }
    return end_member(bytes);
  }

  fs::path source_;
  std::string folder_;
  ZstdWriter zstd_;
  Texts texts_;
  PackSummary summary_;
};

/// Beside the pack, where there must be room for it anyway; what goes to stdout leaves nothing in the current folder.
fs::path scratch_parent(const fs::path& out) {
  std::error_code failed;
  if (is_stdout(out)) return fs::temp_directory_path(failed);
  return out.has_parent_path() ? out.parent_path() : fs::path{"."};
}

Error cancelled(const fs::path& out) {
  const bool to_stdout = is_stdout(out);
  return {ErrorKind::cannot_write, format("{}: packing was cancelled; {}", to_stdout ? "stdout" : out.string(),
                                          to_stdout ? "the output is incomplete" : "nothing was written")};
}

/// Also names what cannot be read.
Result<std::uint64_t> hidden_texts_of(const fs::path& recording, Texts texts) {
  RS_TRY(const auto run, recording::read_recording(recording, texts));
  return run->quality().of(Counter::texts_hidden);
}

Result<PackSummary> pack_recording(const fs::path& recording, const fs::path& out, const ImportOptions& options) {
  const std::vector<fs::path> segments = recording::segments_of(recording);
  RS_TRY(const std::uint64_t hidden, hidden_texts_of(recording, options.texts));
  RS_TRY(auto file, OutputFile::create(out));
  const fs::path scratch = scratch_parent(out);
  Packer packer{recording, file, options.texts};
  RS_TRY_VOID(packer.manifest(hidden));
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (options.progress && !options.progress(static_cast<double>(i) / static_cast<double>(segments.size())))
      return tl::make_unexpected(cancelled(out));
    RS_TRY_VOID(packer.segment(segments[i], scratch));
  }
  RS_TRY_VOID(packer.finish());
  RS_TRY_VOID(file.commit());
  PackSummary summary = packer.summary();
  summary.texts_hidden = hidden;
  return summary;
}

Result<PackSummary> pack_text(const Run& run, const fs::path& source, const fs::path& out,
                              const ImportOptions& options) {
  RS_TRY(auto file, OutputFile::create(out));
  Packer packer{source, file, options.texts};
  RS_TRY_VOID(packer.text(run, scratch_parent(out)));
  if (options.progress && !options.progress(1.0)) return tl::make_unexpected(cancelled(out));
  RS_TRY_VOID(packer.finish());
  RS_TRY_VOID(file.commit());
  PackSummary summary = packer.summary();
  summary.texts_hidden = run.quality().of(Counter::texts_hidden);
  return summary;
}

bool is_packed(const fs::path& input) {
  std::error_code error;
  return fs::is_regular_file(input, error) && input.extension() != ".txt" && looks_like_pack(input);
}

}  // namespace

Result<PackSummary> pack(std::span<const fs::path> inputs, const fs::path& out, const ImportOptions& options) {
  const fs::path& first = inputs.front();
  const bool alone = inputs.size() == 1 && options.rank_map.empty();  // else open_run() says what is wrong
  if (alone && recording::looks_like_recording(first)) return pack_recording(first, out, options);
  if (alone && is_packed(first)) {
    RS_TRY(const auto scratch, ScratchFolder::create(scratch_parent(out)));
    RS_TRY(const fs::path folder, unpack(first, scratch.path()));
    if (recording::looks_like_recording(folder)) return pack_recording(folder, out, options);
  }
  RS_TRY(const auto run, open_run(inputs, options));
  return pack_text(*run, first, out, options);
}

}  // namespace rankscope::analyzer
