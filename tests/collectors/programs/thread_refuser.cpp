// The first thread that anybody asks for is refused, as at a limit on threads. The program starts one of its own after
// that, and ends well once the recorder has one.
#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "rankscope/collectors/annotate.h"

namespace {

std::atomic<int> refused{0};

using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);

void one_event() { const rankscope::annotate::Span span{rankscope::annotate::Kind::op, "event"}; }

bool recorder_has_thread() {
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"}) {
    std::string name;
    std::ifstream{task.path() / "comm"} >> name;
    if (name == "rankscope") return true;
  }
  return false;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int pthread_create(pthread_t* thread,
                                                                     const pthread_attr_t* attributes,
                                                                     void* (*run)(void*), void* data) {
  if (refused.fetch_add(1) == 0) return EAGAIN;
  static const auto create = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, run, data);
}

int main() {
  one_event();
  if (refused.load() == 0) return 2;  // nobody asked
  std::thread{one_event}.join();
  for (int tries = 0; tries < 500 && !recorder_has_thread(); ++tries) usleep(10'000);
  return recorder_has_thread() ? 0 : 3;
}
