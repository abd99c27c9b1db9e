// zstd frames to and from files, piece by piece.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "rankscope/analyzer/output_file.h"
#include "rankscope/core/result.h"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace rankscope::analyzer {

class ZstdWriter {
 public:
  explicit ZstdWriter(OutputFile& out);
  ZstdWriter(const ZstdWriter&) = delete;
  ZstdWriter& operator=(const ZstdWriter&) = delete;
  ~ZstdWriter();

  [[nodiscard]] Result<void> write(std::string_view bytes);
  /// Ends the frame; nothing may be written afterwards.
  [[nodiscard]] Result<void> finish();

 private:
  Result<void> compress(std::string_view bytes, int directive);

  OutputFile& out_;
  ZSTD_CCtx_s* context_;
  std::string buffer_;
};

class ZstdReader {
 public:
  [[nodiscard]] static Result<std::unique_ptr<ZstdReader>> open(const std::filesystem::path& path);
  ZstdReader(const ZstdReader&) = delete;
  ZstdReader& operator=(const ZstdReader&) = delete;
  ~ZstdReader();

  /// Fills `target` as far as there is data; returns the number of bytes. Damaged data is `unreadable`.
  [[nodiscard]] Result<std::size_t> read(std::span<char> target);

 private:
  ZstdReader(const std::filesystem::path& path, std::ifstream file);
  Result<bool> refill();

  std::string path_;
  std::ifstream file_;
  ZSTD_DCtx_s* context_;
  std::string input_;
  std::size_t input_begin_ = 0;
  std::size_t input_end_ = 0;
  bool in_frame_ = false;
};

}  // namespace rankscope::analyzer
