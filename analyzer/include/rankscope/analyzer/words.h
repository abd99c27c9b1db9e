// Names and sizes in the words of a report, for what shows parts of it in another form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "rankscope/core/model/quality.h"

namespace rankscope::analyzer {

/// Decimal units, as bandwidths use them: "1.05 MB".
[[nodiscard]] std::string bytes_text(std::int64_t bytes);

/// Without return type, namespaces, templates and arguments. Before the name of a kernel that only applies what its
/// template names stands that: "FillFunctor · vectorized_elementwise_kernel".
[[nodiscard]] std::string short_kernel_name(std::string_view name);

/// What a user of a recording tool does about a counter. `source` is that of the run: "rankscope", "kineto", "nsys".
[[nodiscard]] std::string_view advice_for(Counter counter, std::string_view source);

}  // namespace rankscope::analyzer
