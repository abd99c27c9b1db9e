// The section on what fixing something would save: its tables and JSON.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/analyzer/what_if/section.h"
#include "render/noted_table.h"

namespace rankscope::analyzer {

struct Report;

[[nodiscard]] std::vector<NotedTable> what_if_tables(const Report& report, std::size_t most);

/// What no replay knows, in a sentence.
inline constexpr std::string_view not_modelled =
    "Not modelled: contention when overlap changes, network congestion, memory limits. The savings of several changes "
    "must not be added.";

[[nodiscard]] nlohmann::ordered_json what_if_json(const WhatIfSection& section);

}  // namespace rankscope::analyzer
