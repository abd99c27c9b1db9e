// Reads JSON into the same values as pickles.
#pragma once

#include <string_view>
#include <tl/expected.hpp>

#include "importers/shared/plain_values.h"

namespace rankscope::analyzer {

/// The root of the values. Texts are kept by `values`. PlainValues nested more than 64 deep are refused.
[[nodiscard]] tl::expected<ValueRef, Fault> read_json(std::string_view bytes, PlainValues& values);

}  // namespace rankscope::analyzer
