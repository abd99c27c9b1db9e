// One event of a trace, its texts still in the file.
#pragma once

#include <vector>

#include "importers/kineto/scanner.h"

namespace rankscope::analyzer::kineto {

/// Of a name or a value, in bytes; longer ones are cut off and counted.
inline constexpr std::size_t longest_text = std::size_t{64} << 10;

struct Argument {
  std::string_view key{};
  Value value{};
};

struct Event {
  char phase = '\0';
  Value category{};
  Value name{};
  Value pid{};
  Value tid{};
  Value time{};
  Value duration{};
  Value id{};
  std::vector<Argument> arguments;

  void clear();
};

/// Reads an event object at the scanner's place and moves behind it. After `cut` or `bad` the place means nothing.
[[nodiscard]] Scan read_event(Scanner& scanner, Event& event);

}  // namespace rankscope::analyzer::kineto
