// record_driver LIBRARY OUT COMMAND...: run_recorded as a program of its own, for tests that send it signals.
#include <cstdio>

#include "rankscope/collectors/record.h"

int main(int count, char** words) {
  rankscope::collectors::RecordOptions options;
  options.library = words[1];
  options.out = words[2];
  for (int i = 3; i < count; ++i) options.command.emplace_back(words[i]);
  const auto outcome = rankscope::collectors::run_recorded(options);
  if (outcome) return outcome->status;
  std::fprintf(stderr, "rankscope: %s\n", outcome.error().message.c_str());
  return rankscope::exit_status(outcome.error().kind);
}
