// A libcuda.so.1 for tests that claims two GPUs, or fails with the error number RANKSCOPE_DOUBLE_CUDA_ERROR. It is no
// driver: whoever wants more of it finds nothing.
#include <cstdlib>
#include <string>

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int cuInit(unsigned) {
  const char* const error = std::getenv("RANKSCOPE_DOUBLE_CUDA_ERROR");
  return error == nullptr ? 0 : std::stoi(error);
}

EXPORTED int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}

EXPORTED int cuGetErrorString(int, const char** text) {
  *text = "the double was told to fail";
  return 0;
}
