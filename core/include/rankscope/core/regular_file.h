// Files that are read, wherever they come from. A pipe, a socket or a device could make its reader wait for ever.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "rankscope/core/result.h"

namespace rankscope {

/// Fails (`unreadable`) unless the path leads to a regular file that is there. Nothing is opened.
[[nodiscard]] Result<void> check_regular_file(const std::filesystem::path& path);
/// True for what is there and is neither a regular file nor a folder: it is never opened for reading.
[[nodiscard]] bool is_special_file(const std::filesystem::path& path);
/// What to say of such a file, as an error of kind `unreadable`.
[[nodiscard]] tl::unexpected<Error> refuse_special_file(const std::filesystem::path& path);

/// A descriptor for reading, which the caller closes. Never waits, whatever takes the place of the file meanwhile.
[[nodiscard]] Result<int> open_regular_file(const std::filesystem::path& path);
/// All of a file; `unreadable` if it has more than `most_bytes`.
[[nodiscard]] Result<std::string> read_regular_file(const std::filesystem::path& path, std::uint64_t most_bytes);

}  // namespace rankscope
