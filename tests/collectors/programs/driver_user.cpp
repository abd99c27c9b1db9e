// A program that loads CUDA's driver library and says what it got, as PyTorch does on a machine without a driver.
#include <dlfcn.h>

#include <cstdio>

int main(int argc, char** argv) {
  void* const library = dlopen(argc > 1 ? argv[1] : "libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return std::puts("no library"), 2;
  const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  if (initialise == nullptr) return std::puts("no cuInit"), 3;
  std::printf("cuInit says %d\n", initialise(0));
  return 0;
}
