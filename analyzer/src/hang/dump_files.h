// The files of a hung job: which of them are dumps, and whose.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankscope/core/result.h"

namespace rankscope::analyzer::hang {

/// One file that may be a dump.
struct DumpFile {
  std::filesystem::path path{};
  std::optional<std::uint32_t> rank{};  ///< as its name says
};

/// The rank of a name like "_dump_3", "nccl_trace_rank_3", "rank3.json": the number after "rank", else the last number.
[[nodiscard]] std::optional<std::uint32_t> rank_in_name(std::string_view name);

/// Files as given, and those of folders that look like dumps or are named like the dumps beside them. `unreadable` if a
/// path is absent.
[[nodiscard]] Result<std::vector<DumpFile>> dump_files(std::span<const std::filesystem::path> paths);

/// The time of a file, in ns since 1970; 0 if it is before, the largest number if it is after the year 2262.
[[nodiscard]] std::int64_t unix_ns_of(const std::timespec& time);

/// Bytes with which a pickle or JSON begins.
[[nodiscard]] bool may_be_dump(std::string_view head);

}  // namespace rankscope::analyzer::hang
