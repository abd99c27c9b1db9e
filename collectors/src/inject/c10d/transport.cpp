// gloo::transport::tcp: when a send or receive of the program is done, which its Work only learns when it is waited
// for.
#include "inject/c10d/hooks.h"
#include "inject/c10d/next.h"
#include "inject/c10d/operations.h"

namespace rankscope::inject::c10d {
namespace {

/// std::unique_ptr<UnboundBuffer> as functions return it.
struct BufferPointer {
  BufferPointer() = default;
  BufferPointer(const BufferPointer& from) : buffer(from.buffer) {}  // NOLINT(modernize-use-equals-default)
  BufferPointer& operator=(const BufferPointer&) = delete;
  ~BufferPointer() {}  // NOLINT(modernize-use-equals-default): what is not trivial is returned in memory
  void* buffer = nullptr;
};

BufferPointer make_buffer(void* self, void* memory, std::size_t bytes) {
  BufferPointer made = next<make_buffer>(self, memory, bytes);
  makes_buffer(made.buffer);
  return made;
}
void has_received(void* self, int rank) {
  buffer_is_done(self);
  next<has_received>(self, rank);
}
void has_sent(void* self, int rank) {
  buffer_is_done(self);
  next<has_sent>(self, rank);
}

}  // namespace

std::vector<Hook> transport_hooks() {
  return {
      hook<make_buffer>("_ZN4gloo9transport3tcp7Context19createUnboundBufferEPvm"),
      hook<has_received>("_ZN4gloo9transport3tcp13UnboundBuffer20handleRecvCompletionEi"),
      hook<has_sent>("_ZN4gloo9transport3tcp13UnboundBuffer20handleSendCompletionEi"),
  };
}

}  // namespace rankscope::inject::c10d
