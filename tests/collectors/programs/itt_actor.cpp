// Plays one scene as a program with ITT inside: it finds the tracer, hands it the table of its functions, and calls
// those.
#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "rankscope/collectors/annotate.h"

namespace {

struct Domain {
  volatile int enabled;
  const char* name;
};
struct Id {
  unsigned long long words[3];
};
struct Function {
  const char* name;
  void** slot;
  void* at_first;
  void* do_nothing;
  int group;
};
struct Global {
  unsigned char magic[8] = {0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30};
  unsigned long version[3] = {3, 23, 0};
  volatile long state[3] = {};
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  void* library = nullptr;
  void* error_handler = nullptr;
  const char** path = nullptr;
  Function* functions = nullptr;
};

Domain* (*create_domain)(const char*) = nullptr;
void* (*create_string)(const char*) = nullptr;
void (*begin_task)(const Domain*, Id, Id, void*) = nullptr;
void (*end_task)(const Domain*) = nullptr;
void (*create_counter)() = reinterpret_cast<void (*)()>(1);  // the tracer has to say that it does nothing
const Domain* pytorch = nullptr;

template <class Pointer>
Function function(const char* name, Pointer& slot) {
  return {name, reinterpret_cast<void**>(&slot), nullptr, nullptr, 0};
}

bool find_tracer() {
  const char* const path = std::getenv("INTEL_LIBITTNOTIFY64");
  void* const library = path != nullptr ? dlopen(path, RTLD_LAZY) : nullptr;
  if (library == nullptr) return false;
  using Init = void (*)(Global*, int);
  const auto init = reinterpret_cast<Init>(dlsym(library, "__itt_api_init"));
  if (init == nullptr) return false;
  static std::array functions{
      function("__itt_domain_create", create_domain),   function("__itt_string_handle_create", create_string),
      function("__itt_task_begin", begin_task),         function("__itt_task_end", end_task),
      function("__itt_counter_create", create_counter), Function{nullptr, nullptr, nullptr, nullptr, 0}};
  static Global global;
  global.functions = functions.data();
  init(&global, 1);
  return true;
}

// As ITT's macros do: what is off, or has no function, is not called.
void begin(const Domain* domain, const std::string& name) {
  if (domain->enabled != 0 && begin_task != nullptr) begin_task(domain, {}, {}, create_string(name.c_str()));
}
void end(const Domain* domain) {
  if (domain->enabled != 0 && end_task != nullptr) end_task(domain);
}

class Task {
 public:
  explicit Task(const std::string& name) { begin(pytorch, name); }
  ~Task() { end(pytorch); }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
};

/// As PyTorch does: made by ITT itself before the tracer is there.
const Domain early{1, "PyTorch"};

int operators() {
  pytorch = &early;
  const Domain* const other = create_domain("TBB");
  if (create_counter != nullptr) return 4;
  const Task data{"enumerate(DataLoader)#Iter.__next__"};
  {
    const Task outer{"aten::linear"};
    const Task inner{"aten::addmm"};
    begin(other, "parallel_for");
    end(other);
  }
  {
    const Task node{"AddmmBackward0"};
    begin(pytorch, "gloo:all_reduce");
    std::thread{[] { end(pytorch); }}.join();
    const Task mine{"my range"};
  }
  const Task optimizer{"Optimizer.step#SGD.step"};
  const Task kernel{"triton_poi_fused_0"};
  return 0;
}

void optimize(int n) {
  const Task optimizer{"Optimizer.step#SGD.step"};
  rankscope::annotate::newer_api()->optimizer_stepped(n);
}

int steps(int count) {
  for (int n = 0; n < count; ++n) {
    { const Task forward{"aten::mm"}; }
    optimize(n);
  }
  return 0;
}

int named() {
  for (int n = 0; n < 5; ++n) {
    const Task step{"step " + std::to_string(n)};
    optimize(n);
  }
  return 0;
}

int loops() {
  int n = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    {
      const Task train{"train"};
      for (int i = 0; i < 4; ++i) {
        const Task iteration{"batch"};
        optimize(n++);
        const Task item{"aten::item"};
      }
    }
    const Task evaluation{"evaluate"};
  }
  return 0;
}

/// What PyTorch tells around an operation of NCCL, which the program announces itself.
int collective() {
  const Task call{"c10d::allreduce_"};
  const Task parameters{"record_param_comms"};
  const Task of_nccl{"nccl:all_reduce"};
  rankscope::annotate::collective_enqueued({.uid = 1,
                                            .sequence = 0,
                                            .bytes = 64,
                                            .group = "dp",
                                            .op = "allreduce",
                                            .dtype = "f32",
                                            .members = "0,1",
                                            .peer = -1});
  rankscope::annotate::collective_started(1);
  rankscope::annotate::collective_finished(1);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (!find_tracer()) return 3;
  pytorch = create_domain != nullptr ? create_domain("PyTorch") : nullptr;
  if (pytorch == nullptr) return std::puts("nobody listens"), 0;
  const std::string scene = argc > 1 ? argv[1] : "operators";
  if (scene == "steps") return steps(argc > 2 ? std::stoi(argv[2]) : 5);
  if (scene == "loops") return loops();
  if (scene == "named") return named();
  if (scene == "collective") return collective();
  return operators();
}
