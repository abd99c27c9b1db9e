// Whether recorded processes record now: a page that `record --toggle` and they share.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

#include "rankscope/core/result.h"

namespace rankscope::collectors {

/// Made by the recorder, before its command is started. Off at first.
class RecordingSwitch {
 public:
  /// Makes the page in the folder of segments.
  [[nodiscard]] static Result<RecordingSwitch> make(const std::filesystem::path& folder);
  /// Returns whether it is on now.
  bool toggle();

 private:
  explicit RecordingSwitch(std::atomic<std::uint8_t>* page) : page_(page) {}
  std::atomic<std::uint8_t>* page_;  // lives as long as the process
};

/// The page as a recorded process sees it: 1 is on. Null: there is none. Lives as long as the process.
[[nodiscard]] const std::atomic<std::uint8_t>* find_switch(const std::string& folder) noexcept;

}  // namespace rankscope::collectors
