// Where an output goes: one rule for files and folders.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace rankscope::analyzer {

/// Where a link leads, so that the link itself stays and what it points to is replaced.
[[nodiscard]] std::filesystem::path follow_links(const std::filesystem::path& target);

/// The folder that a target is in.
[[nodiscard]] std::filesystem::path folder_of(const std::filesystem::path& target);

/// How the hidden names beside a target begin, hardly longer than its own: the limit is 255 bytes.
[[nodiscard]] std::string hidden_prefix(const std::filesystem::path& target);

// What exports write into their files so that they know them again.

/// In the head of Chrome traces.
inline constexpr std::string_view chrome_writer = "\"writer\":\"rankscope\"";
/// In the head of Kineto traces, before its version.
inline constexpr std::string_view kineto_schema = "\"rankscope.kineto/";
/// `PRAGMA application_id` of SQLite exports, "RkSc"; SQLite keeps it in bytes 68 to 71 of the file.
inline constexpr std::string_view sqlite_application = "RkSc";

/// Of the first bytes of a file, unpacked: true if an export of rankscope wrote it.
[[nodiscard]] bool is_own_export(std::string_view head);

}  // namespace rankscope::analyzer
