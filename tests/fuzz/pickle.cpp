// Any bytes as a pickle: values, or one sentence.
#include <cstdlib>

#include "fuzz/fuzz_target.h"
#include "importers/flight_recorder/dump.h"
#include "importers/flight_recorder/pickle.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rankscope::analyzer;
  PlainValues values;
  const auto root = flight_recorder::read_pickle({reinterpret_cast<const char*>(data), size}, values);
  if (!root && root.error().why.empty()) std::abort();
  if (root) static_cast<void>(flight_recorder::dump_from(values, *root));
  return 0;
}
