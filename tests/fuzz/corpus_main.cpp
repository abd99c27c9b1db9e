// Runs a fuzz target on every file of the folders named: crashes that were found once stay fixed, under any compiler.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <vector>

#include "fuzz/fuzz_target.h"

namespace fs = std::filesystem;

int main(int argc, char** argv) {
  std::size_t count = 0;
  for (int i = 1; i < argc; ++i) {
    std::vector<fs::path> files;
    for (const auto& entry : fs::recursive_directory_iterator{argv[i]})
      if (entry.is_regular_file()) files.push_back(entry.path());
    std::ranges::sort(files);
    for (const fs::path& path : files) {
      std::printf("%s\n", path.filename().c_str());
      std::fflush(stdout);  // the last line names the file that crashed
      std::ifstream file{path, std::ios::binary};
      const std::vector<char> bytes{std::istreambuf_iterator<char>{file}, {}};
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++count;
    }
  }
  std::printf("%zu files\n", count);
  return count == 0 ? 1 : 0;  // an empty corpus tests nothing
}
