#include "needed_libraries.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "programs.h"
#include "rankscope/core/format.h"

namespace rankscope::cli {
namespace {

struct OfTheHost {
  std::string_view library;
  std::string_view debian;
  std::string_view fedora;
};

/// What the wheel of the viewer leaves to the host (scripts/portable_viewer.py says why).
constexpr std::array of_the_host{
    OfTheHost{"libexpat.so.1", "libexpat1", "expat"},
    OfTheHost{"libstdc++.so.6", "libstdc++6", "libstdc++"},
    OfTheHost{"libgcc_s.so.1", "libgcc-s1", "libgcc"},
};

/// They are of one release and cannot be installed alone: one that is too old means that the system is.
bool is_of_the_c_library(std::string_view library) {
  constexpr std::array<std::string_view, 6> parts{"libc.so.6",       "libm.so.6",  "libdl.so.2",
                                                  "libpthread.so.0", "librt.so.1", "libresolv.so.2"};
  return library.starts_with("ld-linux") || std::ranges::find(parts, library) != parts.end();
}

std::string what_to_do(const std::vector<std::string>& missing) {
  if (std::ranges::any_of(missing, is_of_the_c_library))
    return "This system is too old for the viewer: use a newer one (docs/install.md says which)";
  std::string debian;
  std::string fedora;
  for (const OfTheHost& one : of_the_host) {
    if (std::ranges::find(missing, one.library) == missing.end()) continue;
    debian += format(" {}", one.debian);
    fedora += format(" {}", one.fedora);
  }
  if (!debian.empty())
    return format("Run `apt install{}` (Debian, Ubuntu) or `dnf install{}` (Fedora, RHEL)", debian, fedora);
  return installed_by_pip()
             ? "Run `pip install --force-reinstall --find-links FOLDER rankscope-viewer` (FOLDER has both wheels)"
             : "Install Qt 6 and the other packages that contain them (on Debian, scripts/setup does so)";
}

/// Both streams of the loader.
Result<std::string> loader_says(const std::string& program) {
  const auto cannot_start = [&program](int error) {
    return fail(ErrorKind::cannot_write, format("cannot start {}: {}", program, std::strerror(error)));
  };
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return cannot_start(errno);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDERR_FILENO);
  std::string trace = "LD_TRACE_LOADED_OBJECTS=1";
  std::vector<char*> variables{trace.data()};
  for (char** variable = environ; *variable != nullptr; ++variable) variables.push_back(*variable);
  variables.push_back(nullptr);
  std::array<char*, 2> words{const_cast<char*>(program.c_str()), nullptr};
  pid_t child = 0;
  const int error = posix_spawn(&child, program.c_str(), &files, nullptr, words.data(), variables.data());
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  std::string said;
  std::array<char, 4096> part{};
  while (error == 0) {
    const ssize_t got = ::read(ends[0], part.data(), part.size());
    if (got > 0) said.append(part.data(), static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
  close(ends[0]);
  if (error != 0) return cannot_start(error);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return said;
}

}  // namespace

std::vector<std::string> missing_libraries(std::string_view said_by_loader) {
  std::vector<std::string> missing;
  while (!said_by_loader.empty()) {
    const std::string_view line = said_by_loader.substr(0, said_by_loader.find('\n'));
    said_by_loader.remove_prefix(std::min(line.size() + 1, said_by_loader.size()));
    std::string_view name;
    if (const std::size_t end = line.find(" => not found"); end != std::string_view::npos) {
      name = line.substr(0, end);
    } else if (const std::size_t old = line.find(": version `"); old != std::string_view::npos) {
      // "PROGRAM: /lib/libstdc++.so.6: version `GLIBCXX_3.4.30' not found (required by ...)"
      name = line.substr(0, old);
      name.remove_prefix(name.rfind('/') + 1);
    }
    name.remove_prefix(std::min(name.find_first_not_of(" \t"), name.size()));
    if (!name.empty() && std::ranges::find(missing, name) == missing.end()) missing.emplace_back(name);
  }
  return missing;
}

std::string why_viewer_cannot_start(const std::vector<std::string>& missing) {
  std::string names;
  for (const std::string& name : missing) names += format("{}{}", names.empty() ? "" : ", ", name);
  return format(
      "the timeline viewer cannot start: this machine lacks these shared libraries, or has older ones than the viewer "
      "needs: {}. {}, or write a page: rankscope report RUN --html page.html",
      names, what_to_do(missing));
}

Result<void> check_libraries(const std::string& program) {
  RS_TRY(const std::string said, loader_says(program));
  const std::vector<std::string> missing = missing_libraries(said);
  if (missing.empty()) return {};
  return fail(ErrorKind::cannot_write, why_viewer_cannot_start(missing));
}

}  // namespace rankscope::cli
