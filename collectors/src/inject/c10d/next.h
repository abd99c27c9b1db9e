// The function of the library behind one of ours, and the row that makes it so.
#pragma once

#include "inject/c10d/relocations.h"

namespace rankscope::inject::c10d {

template <auto Ours>
inline decltype(Ours) next = nullptr;

template <auto Ours>
Hook hook(const char* symbol, Hook::Need need = Hook::Need::required) {
  return {symbol, reinterpret_cast<void*>(Ours), reinterpret_cast<void**>(&next<Ours>), need};
}

}  // namespace rankscope::inject::c10d
