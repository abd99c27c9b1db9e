// What an export tells about the machine, the session and the devices, and what of it is nobody's business.
#pragma once

#include <optional>
#include <string>

#include "importers/nsys/census.h"
#include "importers/nsys/timeline.h"

namespace rankscope::analyzer::nsys {

/// Clock and origin of one session.
struct Session {
  std::string host{};
  std::string schema{};                         ///< "3.25.0"; empty: not told
  std::string product{};                        ///< version of Nsight Systems
  std::optional<std::int64_t> utc_ns{};         ///< Unix time of time 0
  std::optional<std::int64_t> host_start_ns{};  ///< the host's monotonic clock at time 0
  std::optional<std::int64_t> duration_ns{};
  bool shifted = false;  ///< the exporter moved the times; the two above say nothing then
};

/// Fails for a schema of a newer major version: everything may have changed its meaning.
[[nodiscard]] Result<Session> read_session(const Database& database);
/// True if both were recorded on one machine between two boots of it, so that their clocks are one.
[[nodiscard]] bool same_host(const Session& a, const Session& b);

/// Base names of programs by process.
[[nodiscard]] Result<std::map<ProcessKey, std::string>> read_programs(const Database& database);
/// Names of threads, for the lanes.
[[nodiscard]] Result<void> read_thread_names(const Database& database, Timeline& timeline);
/// The devices of each process: product, identity, size.
[[nodiscard]] Result<void> read_devices(const Database& database, Timeline& timeline);
/// Warnings and errors of the recording tool, as metadata of the run.
[[nodiscard]] Result<void> read_diagnostics(const Database& database, RunBuilder& builder);
/// How many values of the export are left out because they can hold secrets or belong to a person.
[[nodiscard]] Result<std::uint64_t> count_secrets(const Database& database);
/// What would be missing silently: columns that this export lacks, tables that are not read.
void note_absences(const Database& database, RunBuilder& builder);

}  // namespace rankscope::analyzer::nsys
