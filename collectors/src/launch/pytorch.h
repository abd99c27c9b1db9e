// What makes recorded Python programs report operators, steps and collectives of PyTorch.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "environment.h"
#include "rankscope/collectors/record.h"
#include "rankscope/collectors/sources.h"

namespace rankscope::collectors {

/// A file of collectors/python/, embedded when the library is built (cmake/RankscopeEmbed.cmake).
struct Asset {
  std::string_view text;
  std::string_view sha256;
};
[[nodiscard]] Asset sitecustomize_py();
[[nodiscard]] Asset rankscope_pytorch_py();
[[nodiscard]] Asset rankscope_collectives_py();
[[nodiscard]] Asset rankscope_stacks_py();

/// Writes the hook into a folder of the spool, and returns that folder. Refused where PYTHONPATH cannot hold its name.
[[nodiscard]] Result<std::filesystem::path> write_pytorch_hook(const std::filesystem::path& spool,
                                                               Stacks stacks = Stacks::sampled);

struct PyTorchHook {
  std::filesystem::path folder;  ///< empty: programs are not observed
  std::string why_not;           ///< said to the user; empty where they are observed, or where nobody expects it
};
/// The hook where PyTorch is not left out, and not where it could harm a job that did not ask for it. What was asked
/// for and cannot be had is an error.
[[nodiscard]] Result<PyTorchHook> pytorch_hook(const RecordOptions& options, SourceSet sources,
                                               const std::filesystem::path& spool, const Lookup& lookup);

/// Adds what puts the hook into Python programs, and the recorder behind PyTorch's operators.
void add_pytorch(CommandEnvironment& environment, const Lookup& lookup, const std::filesystem::path& hook,
                 const std::string& library);
/// PYTHONPATH with the hook in front of what somebody set, or alone.
[[nodiscard]] std::string with_hook(const std::filesystem::path& hook, const std::string& theirs);
/// Said before a container is started whose image may have a module path of its own. Empty: there is nothing to say.
[[nodiscard]] std::string pytorch_container_warning(const std::string& runtime, const Lookup& lookup);

/// Adds to what is known of all processes what one of them reported.
void learn_pytorch(PyTorchSeen& seen, const std::vector<std::pair<std::string, std::string>>& metadata);
/// What was asked for and did not come is never left out silently.
void note_pytorch(const PyTorchSeen& seen, PyTorch wish, std::vector<std::string>& notes);

}  // namespace rankscope::collectors
