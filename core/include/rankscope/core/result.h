// Expected failure is a value: Result<T> holds a T or an Error whose message a user can act on.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace rankscope {

/// Why something could not be done, sorted by what the caller (and the exit status) must do about it.
enum class ErrorKind : std::uint8_t {
  usage,           ///< wrong options: exit 2
  unreadable,      ///< absent, empty, no recording, newer version: exit 3
  not_computable,  ///< readable, but it does not hold what is asked for: exit 4
  cannot_write,    ///< unwritable output, disk full, port in use: exit 5
};

/// One sentence for the user: which file, where, what to do.
struct Error {
  ErrorKind kind = ErrorKind::unreadable;
  std::string message;
  bool operator==(const Error&) const = default;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::make_unexpected(Error{kind, std::move(message)});
}

/// Adds context on the way up: `read(x).map_error(while_doing("reading rank 3"))` gives "reading rank 3: ...".
inline auto while_doing(std::string context) {
  return [context = std::move(context)](Error error) {
    error.message = context + ": " + error.message;
    return error;
  };
}

/// Exit status of the command line for an error.
/// The table of them is in docs/cli.md.
constexpr int exit_status(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return 2;
    case ErrorKind::unreadable:
      return 3;
    case ErrorKind::not_computable:
      return 4;
    case ErrorKind::cannot_write:
      return 5;
  }
  return 125;
}

namespace detail {
[[noreturn]] inline void broken_promise(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "rankscope: internal error: %s does not hold (%s:%d)\n", condition, file, line);
  std::abort();
}
}  // namespace detail

}  // namespace rankscope

#define RS_CONCAT_INNER(a, b) a##b
#define RS_CONCAT(a, b) RS_CONCAT_INNER(a, b)

/// RS_TRY(const auto x, may_fail()); binds the value or returns the error of the enclosing function.
#define RS_TRY(declaration, expression) RS_TRY_IMPL(RS_CONCAT(rs_result_, __LINE__), declaration, expression)
#define RS_TRY_IMPL(name, declaration, expression)                \
  auto name = (expression);                                       \
  if (!name) return tl::make_unexpected(std::move(name).error()); \
  declaration = std::move(*name)

/// The same for Result<void>.
#define RS_TRY_VOID(expression) \
  if (auto rs_void = (expression); !rs_void) return tl::make_unexpected(std::move(rs_void).error())

/// A promise of the code itself; never for input. Ends the program.
#define RS_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::rankscope::detail::broken_promise(#condition, __FILE__, __LINE__))
