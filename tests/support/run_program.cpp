#include "support/run_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace rankscope::testing {
namespace {

std::string read_all(const std::string& path) {
  std::ifstream file{path};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::string temporary_file() {
  std::string name = (std::filesystem::temp_directory_path() / "rankscope-out-XXXXXX").string();
  close(mkstemp(name.data()));
  return name;
}

[[noreturn]] void become(const std::vector<std::string>& words, const std::vector<std::string>& environment,
                         const std::string& out, const std::string& err) {
  for (const auto& [path, descriptor] : {std::pair{out, STDOUT_FILENO}, std::pair{err, STDERR_FILENO}})
    dup2(open(path.c_str(), O_WRONLY | O_TRUNC), descriptor);
  for (const std::string& entry : environment) putenv(const_cast<char*>(entry.c_str()));
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

}  // namespace

ProgramResult run_program(const std::vector<std::string>& words, const std::vector<std::string>& environment) {
  const std::string out = temporary_file();
  const std::string err = temporary_file();
  const pid_t child = fork();
  if (child == 0) become(words, environment, out, err);
  int status = 0;
  waitpid(child, &status, 0);
  ProgramResult result{WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status), read_all(out),
                       read_all(err)};
  std::filesystem::remove(out);
  std::filesystem::remove(err);
  return result;
}

}  // namespace rankscope::testing
