#include "spool/recording_switch.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

constexpr const char* switch_name = "/switch";
constexpr std::size_t page_bytes = 4096;

void* map_page(const std::string& path, int access, int protection) {
  const int file = open(path.c_str(), access | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const page = mmap(nullptr, page_bytes, protection, MAP_SHARED, file, 0);
  close(file);
  return page == MAP_FAILED ? nullptr : page;
}

}  // namespace

Result<RecordingSwitch> RecordingSwitch::make(const std::filesystem::path& folder) {
  const std::string path = folder.string() + switch_name;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  const std::array<char, page_bytes> zeroes{};
  const bool written = file >= 0 && write(file, zeroes.data(), zeroes.size()) == static_cast<ssize_t>(zeroes.size());
  if (file >= 0) close(file);
  void* const page = written ? map_page(path, O_RDWR, PROT_READ | PROT_WRITE) : nullptr;
  if (page == nullptr) return fail(ErrorKind::cannot_write, format("cannot create {}: {}", path, std::strerror(errno)));
  return RecordingSwitch{static_cast<std::atomic<std::uint8_t>*>(page)};
}

bool RecordingSwitch::toggle() { return (page_->fetch_xor(1) ^ 1) == 1; }

const std::atomic<std::uint8_t>* find_switch(const std::string& folder) noexcept {
  return static_cast<const std::atomic<std::uint8_t>*>(map_page(folder + switch_name, O_RDONLY, PROT_READ));
}

}  // namespace rankscope::collectors
