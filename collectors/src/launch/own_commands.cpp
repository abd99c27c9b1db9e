#include "own_commands.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>

#include "settings/rank_environment.h"
#include "spool/segment_names.h"

extern char** environ;

namespace rankscope::collectors {
namespace {

/// Our environment without what would make a command take itself for a rank of the job.
std::vector<char*> environment_of_no_rank(std::string_view rank_env) {
  std::vector<char*> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!tells_rank(text.substr(0, text.find('=')), rank_env)) variables.push_back(*entry);
  }
  variables.push_back(nullptr);
  return variables;
}

}  // namespace

std::optional<pid_t> start_shell(const std::string& command, const std::vector<std::string>& arguments,
                                 std::string_view rank_env) {
  std::vector<std::string> words{"sh", "-c", command, "sh"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const std::vector<char*> variables = environment_of_no_rank(rank_env);
  // Signals are blocked here so that they can be passed on.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  sigset_t usual;
  sigemptyset(&usual);
  sigaddset(&usual, SIGCHLD);
  sigaddset(&usual, SIGPIPE);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  // What the job reads is not for this command.
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pid_t shell = 0;
  const int error = posix_spawnp(&shell, "sh", &files, &attributes, argv.data(), variables.data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return std::nullopt;
  return shell;
}

bool OwnCommands::start(const std::string& command, const std::vector<std::string>& arguments,
                        std::string_view rank_env) {
  const std::scoped_lock lock{mutex_};
  const auto shell = start_shell(command, arguments, rank_env);
  if (shell) sessions_[*shell] = start_of(*shell);
  return shell.has_value();
}

bool OwnCommands::has(pid_t process) const {
  const std::scoped_lock lock{mutex_};
  if (sessions_.empty()) return false;
  const auto session = sessions_.find(getsid(process));
  if (session == sessions_.end()) return false;
  const std::uint64_t start = start_of(session->first);  // 0: the shell has ended, what it started has not
  return start == 0 || start == session->second;
}

}  // namespace rankscope::collectors
