#include "spool/tally.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>

namespace rankscope::collectors {
namespace {
constexpr const char* tally_name = "/failed";
constexpr std::size_t tally_bytes = 4096;
}  // namespace

bool make_tally(const std::filesystem::path& folder) {
  const int file = open((folder.string() + tally_name).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const std::array<char, tally_bytes> zeroes{};
  const bool made = write(file, zeroes.data(), zeroes.size()) == static_cast<ssize_t>(zeroes.size());
  close(file);
  return made;
}

void add_to_tally(const std::string& folder) noexcept {
  const int file = open((folder + tally_name).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* const page = mmap(nullptr, tally_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (page == MAP_FAILED) return;
  static_cast<std::atomic<std::uint64_t>*>(page)->fetch_add(1);
  munmap(page, tally_bytes);
}

std::uint64_t read_tally(const std::filesystem::path& folder) {
  const int file = open((folder.string() + tally_name).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  std::uint64_t value = 0;
  const ssize_t size = read(file, &value, sizeof value);
  close(file);
  return size == static_cast<ssize_t>(sizeof value) ? value : 0;
}

}  // namespace rankscope::collectors
