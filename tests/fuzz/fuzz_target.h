// What a fuzz target is: one function that must survive any bytes. libFuzzer calls it with what it invents, corpus_main
// with the files of a folder.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace rankscope::fuzz {

/// A folder of this process for targets that read files; removed at its end.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "rankscope-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  /// Replaces what the file held.
  std::filesystem::path write(const char* name, std::span<const std::uint8_t> bytes) const {
    std::filesystem::path file = path_ / name;
    std::ofstream{file, std::ios::binary | std::ios::trunc}.write(reinterpret_cast<const char*>(bytes.data()),
                                                                  static_cast<std::streamsize>(bytes.size()));
    return file;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace rankscope::fuzz
