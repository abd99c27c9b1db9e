#include "calls/border.h"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "rankscope/core/format.h"

namespace rankscope::python {

char* copy_of(std::string_view text) noexcept {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = '\0';
  return copy;
}

analyzer::Progress progress_of(rankscope_task* task) {
  if (task == nullptr) return {};
  return [task](double done) {
    std::atomic_ref{task->done}.store(done, std::memory_order_relaxed);
    return std::atomic_ref{task->stop}.load(std::memory_order_relaxed) == 0;
  };
}

}  // namespace rankscope::python

std::int32_t rankscope_interface_version() { return RANKSCOPE_INTERFACE_VERSION; }
const char* rankscope_version() { return RANKSCOPE_VERSION; }
void rankscope_free(char* text) { std::free(text); }
