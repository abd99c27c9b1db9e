// Which words of a command are secrets: by its options, and by the programs whose options have a meaning of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rankscope::secrets {

/// Whether options of unknown programs are judged by the form of their value (-p hunter2), too. Only sure for what is
/// a command for certain.
enum class Guesses : std::uint8_t { no, yes };

/// A word of a command, hidden from a character on.
struct HiddenWord {
  std::size_t word = 0;
  std::size_t from = 0;
};

/// In the order of the words. Values that stand in the word of their option (--token=X) are left to others.
[[nodiscard]] std::vector<HiddenWord> secret_words(std::span<const std::string_view> words, Guesses guesses);

}  // namespace rankscope::secrets
