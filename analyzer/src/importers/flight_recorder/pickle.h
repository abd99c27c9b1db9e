// Decodes pickles of plain data, protocols 2 to 5. Nothing is executed: opcodes that import, call or build objects are
// refused by name.
#pragma once

#include <string_view>
#include <tl/expected.hpp>

#include "importers/shared/plain_values.h"

namespace rankscope::analyzer::flight_recorder {

/// True if the bytes begin like a pickle of protocol 2 or later.
[[nodiscard]] bool looks_like_pickle(std::string_view bytes);

/// The root of the values. Memory: at most about 30 times the size of the input, and never more than PlainValues::most
/// nodes. Texts are views of `bytes`.
[[nodiscard]] tl::expected<ValueRef, Fault> read_pickle(std::string_view bytes, PlainValues& values);

}  // namespace rankscope::analyzer::flight_recorder
