// A verb of the command line: one file, one row of the registry.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string_view>

namespace rankscope::cli {

/// What a verb does once its options are parsed; returns the exit status (DESIGN.md, table of exits).
using Action = std::function<int()>;

struct Verb {
  std::string_view name;
  std::string_view summary;
  /// Declares the options on `app` and returns the action, which may refer to values it owns.
  Action (*declare)(CLI::App& app);
};
/// All verbs, in the order of --help.
[[nodiscard]] std::span<const Verb> verbs();

Action declare_record(CLI::App& app);
Action declare_train(CLI::App& app);
Action declare_report(CLI::App& app);
Action declare_export(CLI::App& app);
Action declare_dump(CLI::App& app);
Action declare_doctor(CLI::App& app);

}  // namespace rankscope::cli
