// The border between C++ and C: results become statuses and texts, and nothing throws across.
#pragma once

#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "rankscope/analyzer/progress.h"
#include "rankscope/analyzer/tables/run_tables.h"
#include "rankscope/core/result.h"
#include "rankscope/python/rankscope.h"

/// A run, and what was computed of it so far.
struct rankscope_run {
  explicit rankscope_run(std::shared_ptr<const rankscope::Run> run) : tables(std::move(run)) {}
  std::mutex in_use;
  rankscope::analyzer::RunTables tables;
};

namespace rankscope::python {

/// For rankscope_free(); null if there is no memory.
[[nodiscard]] char* copy_of(std::string_view text) noexcept;

/// Writes how far work is and asks whether it is to stop; `task` may be null.
[[nodiscard]] analyzer::Progress progress_of(rankscope_task* task);

/// Runs `work`, which returns a Result<void>, and turns what became of it into a status.
template <class Work>
[[nodiscard]] std::int32_t guarded(char** message, Work work) noexcept {
  constexpr std::int32_t internal = 125;
  try {
    const Result<void> done = work();
    if (done) return 0;
    *message = copy_of(done.error().message);
    return exit_status(done.error().kind);
  } catch (const std::bad_alloc&) {
    *message = copy_of("there is not enough memory; choose fewer steps, ranks or columns");
  } catch (const std::exception& error) {
    *message = copy_of(std::string{"internal error: "} + error.what());
  } catch (...) {
    *message = copy_of("internal error: an exception of an unknown type");
  }
  return internal;
}

}  // namespace rankscope::python
