// The node-local folder in which recorded processes leave their segments until they are gathered into OUT. It tells by
// itself what it holds, so that nothing is lost with the recorder.
#pragma once

#include <filesystem>
#include <optional>

#include <sys/types.h>

#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/result.h"

namespace rankscope::collectors {

/// A new folder in RANKSCOPE_SPOOL, TMPDIR or /tmp.
[[nodiscard]] Result<std::filesystem::path> make_spool_folder();
/// Fails (`cannot_write`) unless the spool has room for the events of one process.
[[nodiscard]] Result<void> check_room(const std::filesystem::path& spool, std::uint32_t ring_kib);
/// Folders in which spools may lie: those three, as far as they exist.
[[nodiscard]] std::vector<std::filesystem::path> spool_bases();
/// True for the name of a spool of this user, also of one that is done.
[[nodiscard]] bool is_spool_name(const std::string& name);

/// Behind the name of a spool from which nothing is needed any more. What is left in it may be incomplete.
inline constexpr const char* done_suffix = ".done";
[[nodiscard]] bool is_done(const std::filesystem::path& spool);

/// The user who owns a folder; nothing if it is none, or a link: anybody can make a folder of any name in /tmp.
[[nodiscard]] std::optional<uid_t> owner_of(const std::filesystem::path& folder);

/// Makes the spool tell whose it is, and OUT tell where its segments are. Before the command is started.
[[nodiscard]] Result<void> tie(const std::filesystem::path& spool, recording::Manifest manifest,
                               const std::filesystem::path& out);
/// A file in OUT that names the spool.
[[nodiscard]] Result<void> put_mark(const std::filesystem::path& spool, const std::filesystem::path& out);
/// Takes the mark of this spool out of OUT: its segments have been gathered, or there will be none.
void untie(const std::filesystem::path& spool, const std::filesystem::path& out);

/// Removes a spool from which nothing is needed any more, and its mark in OUT, in steps after each of which a reader
/// still knows that it is done. An empty OUT is none.
void discard(const std::filesystem::path& spool, const std::filesystem::path& out);

[[nodiscard]] recording::ProcessIdentity own_identity();
/// True for a process of another host, of which nothing can be told from here: spools may lie on a shared file system.
[[nodiscard]] bool is_elsewhere(const recording::ProcessIdentity& process);
[[nodiscard]] bool is_running(const recording::ProcessIdentity& process);
/// True if the segment is of a process that still runs here and records itself.
[[nodiscard]] bool is_written(const std::filesystem::path& segment);

}  // namespace rankscope::collectors
