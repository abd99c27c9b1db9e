#include "containers.h"

#include <algorithm>
#include <array>
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

// Options that runtimes take before their action and that have a value, which is the next word where none is joined to
// them. The same names and letters have one in all of the runtimes that know them.
constexpr std::string_view valued_before_action =
    " address cgroup-manager cni-netconfpath cni-path config conmon connection context data-root events-backend"
    " hooks-dir host hosts-dir identity imagestore log-level module namespace network-cmd-path network-config-dir out"
    " root runroot runtime runtime-flag snapshotter ssh storage-driver storage-opt tlscacert tlscert tlskey tmpdir url"
    " volumepath ";
constexpr std::string_view valued_letters_before_action = "cHlan";

bool takes_next_word(std::string_view option) {
  if (option.starts_with("--"))
    return valued_before_action.find(format(" {} ", option.substr(2))) != std::string_view::npos;
  const std::size_t letter = option.find_first_of(valued_letters_before_action, 1);
  return letter != std::string_view::npos && letter + 1 == option.size();
}

/// "exec" of "apptainer --config FILE exec …", "run" of "docker container run …".
Words::const_iterator find_action(Words::const_iterator runtime, Words::const_iterator end) {
  auto word = runtime + 1;
  for (; word != end && (word->starts_with('-') || *word == "container"); ++word)
    if (takes_next_word(*word) && word + 1 != end) ++word;
  return word;
}

/// Behind launchers, too: "srun -n 4 apptainer --quiet exec …".
Words::const_iterator find_runtime(const Words& command) {
  constexpr std::array<std::string_view, 3> actions{"run", "exec", "shell"};
  for (auto word = command.begin(); word != command.end(); ++word) {
    const std::string name = fs::path{*word}.filename().string();
    if (!is_one_of(same_host, name) && !is_one_of(elsewhere, name)) continue;
    const auto action = find_action(word, command.end());
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

/// Apptainer's options up to the image.
struct Options {
  bool contains = false;  ///< nothing is bound by itself
  bool no_home = false;
  std::vector<std::string> binds{};
};

// Options of run, exec and shell with a value, which is the next word where none is joined to them.
constexpr auto valued = std::to_array<std::string_view>({"add-caps",      "app",
                                                         "apply-cgroups", "bind",
                                                         "blkio-weight",  "blkio-weight-device",
                                                         "cpu-shares",    "cpus",
                                                         "cpuset-cpus",   "cpuset-mems",
                                                         "cwd",           "dns",
                                                         "docker-host",   "drop-caps",
                                                         "env",           "env-file",
                                                         "fusemount",     "home",
                                                         "hostname",      "memory",
                                                         "mount",         "memory-reservation",
                                                         "memory-swap",   "network",
                                                         "network-args",  "no-mount",
                                                         "overlay",       "pem-path",
                                                         "pids-limit",    "pwd",
                                                         "scratch",       "security",
                                                         "shell",         "workdir"});
constexpr std::string_view valued_letters = "BHSWos";

/// Reads options off the front of the words of a command.
class OptionReader {
 public:
  OptionReader(Words::const_iterator word, Words::const_iterator end) : word_(word), end_(end) {}

  /// Up to the first word that is none: the image. What is behind it are options of a program.
  Options read() {
    for (; word_ != end_ && word_->size() > 1 && word_->front() == '-' && *word_ != "--"; ++word_) {
      if (word_->starts_with("--"))
        take_name(std::string_view{*word_}.substr(2));
      else
        take_letters(std::string_view{*word_}.substr(1));
    }
    return std::move(options_);
  }

 private:
  void take_name(std::string_view text) {
    const std::string_view name = text.substr(0, text.find('='));
    if (name == "contain" || name == "containall" || name == "compat") options_.contains = true;
    if (name == "no-home") options_.no_home = true;
    const std::string value = name.size() < text.size() ? std::string{text.substr(name.size() + 1)}
                              : is_one_of(valued, name) ? next()
                                                        : std::string{};
    if (name == "bind") options_.binds.push_back(value);
  }
  /// "-ec", "-B/data", "-B /data".
  void take_letters(std::string_view letters) {
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (letters[i] == 'c' || letters[i] == 'C') options_.contains = true;
      if (valued_letters.find(letters[i]) == std::string_view::npos) continue;
      std::string_view rest = letters.substr(i + 1);
      if (rest.starts_with('=')) rest.remove_prefix(1);
      const std::string value = rest.empty() ? next() : std::string{rest};
      if (letters[i] == 'B') options_.binds.push_back(value);
      return;
    }
  }
  std::string next() { return word_ + 1 != end_ ? *++word_ : std::string{}; }

  Words::const_iterator word_;
  Words::const_iterator end_;
  Options options_;
};

Options options_of(const Words& command) {
  return OptionReader{find_action(find_runtime(command), command.end()) + 1, command.end()}.read();
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
        "the processes in a {} container do not descend from this command and do not get its environment, so nothing "
        "in the container is recorded; install rankscope in the image and start `rankscope record` inside the "
        "container",
        runtime);
  const std::string list = bind_list(bound_by(options_of(command), lookup), needed);
  if (list.empty()) return {};
  return format("the {} container does not see {}, so nothing in it is recorded; run {} with --bind {}", runtime, list,
                runtime, list);
}

std::string container_note(const std::string& runtime, const NeededInside& needed) {
  return format(
      "no process in the {} container was recorded: to be recorded, a process must see {} and {} (--bind) and use "
      "NVTX, CUDA, NCCL or the annotation API; otherwise, install rankscope in the image and start `rankscope record` "
      "inside the container",
      runtime, needed.library.parent_path().string(), needed.spool.parent_path().string());
}

}  // namespace rankscope::collectors
