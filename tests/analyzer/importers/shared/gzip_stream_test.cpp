#include "importers/shared/gzip_stream.h"

#include <gtest/gtest.h>

#include "support/gzip.h"

namespace rankscope::analyzer {
namespace {

using testing::packed;

struct Unpacked {
  std::string text;
  bool incomplete = false;
  bool operator==(const Unpacked&) const = default;
};

Unpacked unpack(std::string_view from, std::size_t at_a_time = 1000) {
  GzipStream stream{from};
  std::string text;
  std::string piece(at_a_time, '\0');
  while (const std::size_t size = stream.read(piece)) text.append(piece, 0, size);
  return {text, stream.incomplete()};
}

/// Hard to pack, so that the packed form is long, too.
std::string noise(std::size_t size) {
  std::string text;
  for (std::uint32_t state = 1; text.size() < size; state = state * 1664525U + 1013904223U)
    text += static_cast<char>(state >> 24U);
  return text;
}

TEST(GzipStream, UnpacksWhateverIsAskedForAtATime) {
  const std::string text = noise(300'000);
  for (const std::size_t at_a_time : {1U << 20U, 65'536U, 1'000U, 7U}) {
    const auto unpacked = unpack(packed(text), at_a_time);
    EXPECT_TRUE(unpacked == (Unpacked{text, false})) << at_a_time;
  }
}

TEST(GzipStream, MembersBehindOneAnotherAreOneText) {
  const std::string first = noise(100'000);
  const std::string second = noise(200'001);
  EXPECT_TRUE(unpack(packed(first) + packed("") + packed(second)) == (Unpacked{first + second, false}));
}

TEST(GzipStream, ZerosBehindAMemberAreNoMember) {
  EXPECT_EQ(unpack(packed("abc") + std::string(200'000, '\0')), (Unpacked{"abc", false}));
  EXPECT_EQ(unpack(packed(packed("abc") + std::string(200'000, '\0') + packed("def"))), (Unpacked{"abcdef", false}));
}

TEST(GzipStream, GzipInsideOfGzipIsUnpackedPieceByPiece) {
  const std::string text = noise(1'000'000);
  EXPECT_TRUE(unpack(packed(packed(packed(text))), 65'536) == (Unpacked{text, false}));
}

TEST(GzipStream, ACutTextGivesItsFrontAndIsIncomplete) {
  const std::string text = noise(400'000);
  const std::string whole = packed(text);
  for (const std::size_t size : {whole.size() / 2, whole.size() - 1, whole.size() - 8, std::size_t{5}}) {
    const auto unpacked = unpack(whole.substr(0, size));
    EXPECT_TRUE(unpacked.incomplete) << size;
    EXPECT_TRUE(text.starts_with(unpacked.text)) << size;
  }
  EXPECT_GT(unpack(whole.substr(0, whole.size() / 2)).text.size(), 100'000U);
  const std::string cut_inside = packed(packed(text).substr(0, 100'000));
  EXPECT_TRUE(unpack(cut_inside).incomplete);
}

TEST(GzipStream, AWrongChecksumOrGarbageBehindIsIncomplete) {
  std::string damaged = packed("abc");
  damaged[damaged.size() - 6] ^= 1;
  EXPECT_EQ(unpack(damaged), (Unpacked{"abc", true}));
  EXPECT_EQ(unpack(packed("abc") + "garbage"), (Unpacked{"abc", true}));
  EXPECT_EQ(unpack("\x1f\x8b no gzip at all"), (Unpacked{"", true}));
}

}  // namespace
}  // namespace rankscope::analyzer
