#include "pytorch.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>

#include "containers.h"
#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;
constexpr const char* itt_library = "INTEL_LIBITTNOTIFY64";

Result<void> write(const fs::path& path, std::string_view text) {
  std::ofstream file{path};
  file << text;
  file.close();
  if (file) return {};
  return fail(ErrorKind::cannot_write, format("cannot write {}: {}", path.string(), std::strerror(errno)));
}

/// Those of a process ("…; …"), each of them once. Most processes of a job have the same.
void add_problems(std::string_view problems, std::string& all) {
  constexpr std::string_view between = "; ";
  const auto marked = [between](std::string_view text) { return format("{}{}{}", between, text, between); };
  while (!problems.empty()) {
    const std::string_view one = problems.substr(0, problems.find(between));
    problems.remove_prefix(std::min(problems.size(), one.size() + between.size()));
    if (!one.empty() && marked(all).find(marked(one)) == std::string::npos)
      all += format("{}{}", all.empty() ? "" : between, one);
  }
}

}  // namespace

Result<fs::path> write_pytorch_hook(const fs::path& spool, Stacks stacks) {
  const fs::path folder = spool / "python";
  if (folder.string().find(':') != std::string::npos)
    return fail(ErrorKind::cannot_write,
                format("PyTorch cannot be observed: {} contains a colon, and PYTHONPATH is split at colons; set "
                       "RANKSCOPE_SPOOL to a folder whose path contains no colon",
                       spool.string()));
  std::error_code error;
  fs::create_directory(folder, error);
  if (error)
    return fail(ErrorKind::cannot_write, format("cannot create the folder {}: {}", folder.string(), error.message()));
  RS_TRY_VOID(write(folder / "sitecustomize.py", sitecustomize_py().text));
  RS_TRY_VOID(write(folder / "rankscope_pytorch.py", rankscope_pytorch_py().text));
  RS_TRY_VOID(write(folder / "rankscope_collectives.py", rankscope_collectives_py().text));
  if (stacks == Stacks::sampled) {
    RS_TRY_VOID(write(folder / "rankscope_stacks.py", rankscope_stacks_py().text));
  }
  return folder;
}

Result<PyTorchHook> pytorch_hook(const RecordOptions& options, SourceSet sources, const fs::path& spool,
                                 const Lookup& lookup) {
  if (options.pytorch == PyTorch::left_out) return PyTorchHook{};
  if (options.pytorch == PyTorch::expected) {
    RS_TRY(fs::path folder, write_pytorch_hook(spool, options.stacks));
    return PyTorchHook{std::move(folder), {}};
  }
  if (!sources.has(Source::annotate)) return PyTorchHook{};
  if (!pytorch_container_warning(container_runtime(options.command), lookup).empty())
    return PyTorchHook{
        {},
        "PyTorch in this container is recorded only with --pytorch, since the recorder's PYTHONPATH would hide "
        "the one that the image sets"};
  auto folder = write_pytorch_hook(spool, options.stacks);
  return folder ? PyTorchHook{std::move(*folder), {}} : PyTorchHook{{}, folder.error().message};
}

std::string with_hook(const fs::path& hook, const std::string& theirs) {
  return theirs.empty() ? hook.string() : hook.string() + ":" + theirs;
}

void add_pytorch(CommandEnvironment& environment, const Lookup& lookup, const fs::path& hook,
                 const std::string& library) {
  const char* const theirs = lookup(python_path);
  environment.variables.emplace_back(python_path, with_hook(hook, theirs == nullptr ? "" : theirs));
  const char* const tracer = lookup(itt_library);
  const bool taken =
      tracer != nullptr && *tracer != '\0' && fs::path{tracer}.filename() != std::string_view{inject_library_name};
  if (!taken) return environment.variables.emplace_back(itt_library, library), void();
  environment.warnings.push_back(
      format("{} is already set to {} and was not changed, so operators of PyTorch are not recorded; unset it to "
             "record them",
             itt_library, tracer));
}

std::string pytorch_container_warning(const std::string& runtime, const Lookup& lookup) {
  if (runtime != "apptainer" && runtime != "singularity") return {};
  for (const std::string_view prefix : container_prefixes)
    if (lookup((std::string{prefix} + python_path).c_str()) != nullptr) return {};
  return format(
      "PyTorch: in the {} container, PYTHONPATH contains the recorder's hook and the folders that were set outside the "
      "container, but not those that the image sets; if programs in the container do not find their modules, "
      "set APPTAINERENV_PYTHONPATH to the image's folders",
      runtime);
}

void learn_pytorch(PyTorchSeen& seen, const std::vector<std::pair<std::string, std::string>>& metadata) {
  for (const auto& [key, value] : metadata) {
    if (key == "pytorch_operators") seen.operators = true;
    if (key == "pytorch_steps") seen.steps = true;
    if (key == "pytorch_problem") add_problems(value, seen.problem);
  }
}

void note_pytorch(const PyTorchSeen& seen, PyTorch wish, std::vector<std::string>& notes) {
  const bool used = seen.operators || seen.steps || !seen.problem.empty();
  if (wish != PyTorch::expected && !used) return;
  if (!seen.problem.empty()) notes.push_back("PyTorch: " + seen.problem);
  if (!used) {
    notes.emplace_back(
        "PyTorch: no recorded Python program reported operators or steps of PyTorch. If a program did use PyTorch, "
        "note that python -I, -E and -S do not load the recorder's hook, and that the hook needs the module ctypes");
    return;
  }
  if (!seen.operators && seen.problem.empty()) notes.emplace_back("PyTorch: steps were recorded, but no operators");
  if (!seen.steps) {
    notes.emplace_back(
        "PyTorch: no optimizer of torch.optim took three steps outside of torch.compile, so the report knows only "
        "steps that the program marks itself, with NVTX ranges or record_function: \"step 1\", \"step 2\", ...");
  }
}

}  // namespace rankscope::collectors
