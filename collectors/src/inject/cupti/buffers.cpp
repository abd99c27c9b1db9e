#include "inject/cupti/buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "rankscope/core/numbers.h"

namespace rankscope::inject::cupti {

std::uint8_t* Buffers::map_one() {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::uint8_t*>(memory);
}

std::uint8_t* Buffers::map_another() {
  std::uint8_t* const buffer = map_one();
  if (buffer != nullptr) all_[mapped_++] = buffer;
  return buffer;
}

std::size_t Buffers::wanted() {
  const char* const text = std::getenv("RANKSCOPE_CUPTI_BUFFERS");
  return leading_number<std::size_t>(text == nullptr ? "" : text).value_or(most);
}

void Buffers::prepare(std::size_t limit) {
  const std::lock_guard lock(mutex_);
  limit_ = std::clamp<std::size_t>(limit, 1, most);
  while (mapped_ < std::min(ahead, limit_)) {
    std::uint8_t* const buffer = map_another();
    if (buffer == nullptr) return;
    std::memset(buffer, 0, bytes);  // touched now, not on the program's thread
    free_[free_count_++] = buffer;
  }
}

std::uint8_t* Buffers::take() {
  const std::lock_guard lock(mutex_);
  if (free_count_ > 0) return free_[--free_count_];
  return mapped_ >= limit_ ? nullptr : map_another();
}

void Buffers::give_back(std::uint8_t* buffer, std::size_t used) {
  {
    const std::lock_guard lock(mutex_);
    const auto end = all_.begin() + static_cast<std::ptrdiff_t>(mapped_);
    if (std::find(all_.begin(), end, buffer) == end) return;
  }
  std::memset(buffer, 0, std::min(used, bytes));
  const std::lock_guard lock(mutex_);
  if (free_count_ < free_.size()) free_[free_count_++] = buffer;
}

}  // namespace rankscope::inject::cupti
