#include "engine/comm/accelerator.h"

#include <dlfcn.h>

#include <filesystem>

#include "engine/catching.h"
#include "rankscope/core/format.h"

namespace rankscope::trainer {
namespace {

Accelerator* the_accelerator = nullptr;

Result<void*> open_library(const std::string& path, int flags) {
  if (void* const library = dlopen(path.c_str(), flags)) return library;
  const char* const why = dlerror();
  return fail(ErrorKind::usage, format("the trainer's CUDA part cannot be loaded: {}; install PyTorch "
                                       "with its CUDA libraries (scripts/setup --with-pytorch) and rebuild rankscope",
                                       why != nullptr ? why : path));
}

}  // namespace

Accelerator* accelerator() { return the_accelerator; }
void forget_accelerator() { the_accelerator = nullptr; }

Result<void> load_accelerator() {
  RS_TRY_VOID(open_library("libtorch_cuda.so", RTLD_NOW | RTLD_GLOBAL));
  const auto plugin = std::filesystem::read_symlink("/proc/self/exe").parent_path() / "librankscope_train_cuda.so";
  RS_TRY(void* const library, open_library(plugin.string(), RTLD_NOW | RTLD_LOCAL));
  const auto entry = reinterpret_cast<Accelerator* (*)()>(dlsym(library, "rankscope_accelerator"));
  if (entry == nullptr) {
    return fail(ErrorKind::usage, format("{} is not the CUDA part of this trainer", plugin.string()));
  }
  Accelerator* const found = entry();
  RS_TRY(const int devices, catching([&]() -> Result<int> { return found->devices(); }));
  if (devices == 0) return fail(ErrorKind::usage, "PyTorch finds no GPU that it can use");
  the_accelerator = found;
  return {};
}

}  // namespace rankscope::trainer
