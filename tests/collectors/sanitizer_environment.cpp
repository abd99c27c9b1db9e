// ThreadSanitizer cannot be brought into a running program by a preloaded library: nothing here runs under it.
#include <gtest/gtest.h>

namespace {

class NotUnderThreadSanitizer : public testing::Environment {
  void SetUp() override {
#if defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the recorder cannot be preloaded with ThreadSanitizer in it";
#endif
  }
};
[[maybe_unused]] testing::Environment* const registered =
    testing::AddGlobalTestEnvironment(new NotUnderThreadSanitizer);

}  // namespace
