// A page in the folder of segments, made by the launcher: processes that could not open a segment add themselves.
// It is allocated before anything can be full.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace rankscope::collectors {

/// False if it could not be made.
bool make_tally(const std::filesystem::path& folder);
void add_to_tally(const std::string& folder) noexcept;
[[nodiscard]] std::uint64_t read_tally(const std::filesystem::path& folder);

}  // namespace rankscope::collectors
