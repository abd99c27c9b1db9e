// A verb of the command line: one file, one row of the registry.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankscope::cli {

/// What a verb does once its options are parsed; returns the exit status (docs/cli.md).
using Action = std::function<int()>;

/// Words behind a lone "--", as they stand: the command of `record`, more options of the trainer for `train`.
using Words = std::vector<std::string>;

struct Verb {
  std::string_view name;
  std::string_view summary;
  /// Declares the options on `app` and returns the action, which may refer to values it owns. `behind_dashes` is
  /// complete from the start and outlives the action.
  Action (*declare)(CLI::App& app, const Words& behind_dashes);
  bool takes_words = false;  ///< false: words behind "--" are an error
};
/// All verbs, in the order of --help.
[[nodiscard]] std::span<const Verb> verbs();

Action declare_record(CLI::App& app, const Words& behind_dashes);
Action declare_train(CLI::App& app, const Words& behind_dashes);
Action declare_report(CLI::App& app, const Words& behind_dashes);
Action declare_compare(CLI::App& app, const Words& behind_dashes);
Action declare_gate(CLI::App& app, const Words& behind_dashes);
Action declare_hang(CLI::App& app, const Words& behind_dashes);
Action declare_whatif(CLI::App& app, const Words& behind_dashes);
Action declare_scale(CLI::App& app, const Words& behind_dashes);
Action declare_export(CLI::App& app, const Words& behind_dashes);
Action declare_pack(CLI::App& app, const Words& behind_dashes);
Action declare_view(CLI::App& app, const Words& behind_dashes);
Action declare_dump(CLI::App& app, const Words& behind_dashes);
Action declare_doctor(CLI::App& app, const Words& behind_dashes);

}  // namespace rankscope::cli
