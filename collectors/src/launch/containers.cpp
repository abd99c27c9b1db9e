#include "containers.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "rankscope/core/format.h"

namespace rankscope::collectors {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::array<std::string_view, 2> same_host{"apptainer", "singularity"};  // the command's own processes
constexpr std::array<std::string_view, 3> elsewhere{"docker", "podman", "nerdctl"};

template <std::size_t n>
bool is_one_of(const std::array<std::string_view, n>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// Behind launchers, too: "srun -n 4 apptainer --quiet exec …".
Words::const_iterator find_runtime(const Words& command) {
  constexpr std::array<std::string_view, 3> actions{"run", "exec", "shell"};
  for (auto word = command.begin(); word != command.end(); ++word) {
    const std::string name = fs::path{*word}.filename().string();
    if (!is_one_of(same_host, name) && !is_one_of(elsewhere, name)) continue;
    const auto action = std::find_if(word + 1, command.end(), [](const std::string& one) { return one[0] != '-'; });
    if (action != command.end() && is_one_of(actions, *action)) return word;
  }
  return command.end();
}

bool is_under(const fs::path& path, const fs::path& folder) {
  const fs::path relative = path.lexically_normal().lexically_relative(folder.lexically_normal());
  return !relative.empty() && *relative.begin() != "..";
}

/// Folders of the host that a container shows at the same place.
class Bound {
 public:
  void add(const fs::path& folder) { folders_.push_back(folder); }
  /// "src[:dst[:options]],…"; what is shown elsewhere is not where the variables say.
  void add_binds(std::string_view list) {
    while (!list.empty()) {
      const std::string_view item = list.substr(0, list.find(','));
      list.remove_prefix(std::min(list.size(), item.size() + 1));
      const std::string_view source = item.substr(0, item.find(':'));
      std::string_view target = item.substr(std::min(item.size(), source.size() + 1));
      target = target.substr(0, target.find(':'));
      if (target.empty() || target == source) add(source);
    }
  }
  [[nodiscard]] bool shows(const fs::path& path) const {
    return std::ranges::any_of(folders_, [&](const fs::path& folder) { return is_under(path, folder); });
  }

 private:
  std::vector<fs::path> folders_;
};

bool is_image(std::string_view word) {
  return word.ends_with(".sif") || word.ends_with(".simg") || word.find("://") != word.npos;
}

/// Apptainer's options up to the image.
struct Options {
  bool contains = false;  ///< nothing is bound by itself
  bool no_home = false;
  std::vector<std::string> binds{};
};

Options options_of(Words::const_iterator word, Words::const_iterator end) {
  Options options;
  for (; word != end && !is_image(*word); ++word) {
    const std::string& text = *word;
    if (text == "-c" || text == "--contain" || text == "-C" || text == "--containall") options.contains = true;
    if (text == "--no-home") options.no_home = true;
    if (text.starts_with("--bind=")) options.binds.push_back(text.substr(7));
    if ((text == "-B" || text == "--bind") && word + 1 != end) options.binds.push_back(*++word);
  }
  return options;
}

/// What Apptainer shows by its default configuration: home, working folder, /tmp, /var/tmp; and what is asked for.
Bound bound_by(const Options& options, const Lookup& lookup) {
  Bound bound;
  const auto add_variable = [&](const char* name, auto add) {
    if (const char* const value = lookup(name); value != nullptr && *value != '\0') add(value);
  };
  if (!options.contains) {
    if (!options.no_home) add_variable("HOME", [&](const char* home) { bound.add(home); });
    std::error_code error;
    if (const fs::path here = fs::current_path(error); !error) bound.add(here);
    for (const char* const folder : {"/tmp", "/var/tmp"}) bound.add(folder);
  }
  for (const char* const name : {"APPTAINER_BIND", "APPTAINER_BINDPATH", "SINGULARITY_BIND", "SINGULARITY_BINDPATH"})
    add_variable(name, [&](const char* list) { bound.add_binds(list); });
  for (const std::string& list : options.binds) bound.add_binds(list);
  return bound;
}

std::string bind_list(const Bound& bound, const NeededInside& needed) {
  std::string list;
  for (const fs::path& path : {needed.library, needed.spool})
    if (!bound.shows(path)) list += (list.empty() ? "" : ",") + path.parent_path().string();
  return list;
}

}  // namespace

std::string container_runtime(const Words& command) {
  const auto word = find_runtime(command);
  return word == command.end() ? std::string{} : fs::path{*word}.filename().string();
}

std::string container_warning(const Words& command, const Lookup& lookup, const NeededInside& needed) {
  const std::string runtime = container_runtime(command);
  if (runtime.empty()) return {};
  if (is_one_of(elsewhere, runtime))
    return format(
        "{} starts its processes apart from this command, without its environment: nothing in the container "
        "is recorded; install rankscope in the image and start `rankscope record` inside",
        runtime);
  const std::string list = bind_list(bound_by(options_of(find_runtime(command), command.end()), lookup), needed);
  if (list.empty()) return {};
  return format("the container of {} does not see {}: nothing in it is recorded; give {} --bind {}", runtime, list,
                runtime, list);
}

std::string container_note(const std::string& runtime, const NeededInside& needed) {
  return format(
      "no process in the container of {} was recorded: it must see {} and {} (--bind), and the recorder's "
      "variables; or install rankscope in the image and start `rankscope record` inside",
      runtime, needed.library.parent_path().string(), needed.spool.parent_path().string());
}

}  // namespace rankscope::collectors
