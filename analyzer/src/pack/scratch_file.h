// A file without a name: it is gone with the process, however that ends.
#pragma once

#include <ext/stdio_filebuf.h>

#include <filesystem>
#include <iostream>
#include <memory>

#include "rankscope/core/result.h"

namespace rankscope::analyzer {

class ScratchFile {
 public:
  /// Inside `parent`; `cannot_write` if that is not possible.
  [[nodiscard]] static Result<ScratchFile> create(const std::filesystem::path& parent);

  /// For writing, and after rewind() for reading.
  [[nodiscard]] std::iostream& stream() { return *stream_; }
  /// Goes back to the start; `cannot_write` if something could not be written.
  [[nodiscard]] Result<void> rewind();

 private:
  using Buffer = __gnu_cxx::stdio_filebuf<char>;  // of libstdc++: a stream on a descriptor, which it closes
  ScratchFile(std::filesystem::path parent, int descriptor);

  std::filesystem::path parent_;
  std::unique_ptr<Buffer> buffer_;
  std::unique_ptr<std::iostream> stream_;
};

}  // namespace rankscope::analyzer
