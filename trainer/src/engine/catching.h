// Exceptions of libtorch as errors.
#pragma once

#include <exception>
#include <string>

#include "rankscope/core/result.h"

namespace rankscope::trainer {

/// What `work` returns. libtorch and hooks of autograd can only throw: what comes out of them becomes an error of kind
/// `not_computable` with the first line of their message.
template <class Work>
[[nodiscard]] auto catching(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& error) {
    const std::string what = error.what();
    return fail(ErrorKind::not_computable, what.substr(0, what.find('\n')));
  }
}

}  // namespace rankscope::trainer
