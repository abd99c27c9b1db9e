#include "rankscope/trainer/checkpoint/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "rankscope/core/format.h"
#include "support/temporary_folder.h"

namespace rankscope::trainer {
namespace {

using rankscope::testing::TemporaryFolder;

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream{path, std::ios::binary | std::ios::trunc} << bytes;
}

std::string with_length(std::uint64_t length, std::string_view rest) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += static_cast<char>(length >> (8 * i) & 0xFF);
  return bytes + std::string{rest};
}

std::string two_tensors() {
  constexpr std::array<std::byte, 8> matrix{};
  constexpr std::array<std::byte, 3> flags{};
  const std::vector<TensorBytes> tensors{{{"matrix", ElementType::f16, {2, 2}}, matrix},
                                         {{"flags", ElementType::boolean, {3}}, flags}};
  return safetensors_head(tensors, {{"step", "7"}}) + std::string(11, 'x');
}

TEST(Safetensors, WhatWasWrittenIsReadBack) {
  const TemporaryFolder folder;
  write(folder / "a.safetensors", two_tensors());
  const auto header = read_safetensors_header(folder / "a.safetensors").value();
  ASSERT_EQ(header.tensors.size(), 2u);
  EXPECT_EQ(header.tensors[0].info, (TensorInfo{"matrix", ElementType::f16, {2, 2}}));
  EXPECT_EQ(header.tensors[1].info, (TensorInfo{"flags", ElementType::boolean, {3}}));
  EXPECT_EQ(header.tensors[1].begin, 8u);
  EXPECT_EQ(header.tensors[1].end, 11u);
  EXPECT_EQ(header.metadata.at("step"), "7");
  EXPECT_EQ(header.data_begin % 8, 0u);
  EXPECT_EQ(header.data_begin + 11, two_tensors().size());
}

TEST(Safetensors, AFileIsItsLengthAHeaderAndTheBytes) {
  constexpr std::array<std::byte, 4> bytes{};
  const std::vector<TensorBytes> tensors{{{"a", ElementType::f32, {1}}, bytes}};
  EXPECT_EQ(safetensors_head(tensors), with_length(56, R"({"a":{"data_offsets":[0,4],"dtype":"F32","shape":[1]}}  )"));
}

// As the Python package safetensors 0.8.0 writes the numpy arrays b, s (a scalar) and e (empty), with metadata.
TEST(Safetensors, ReadsWhatThePythonPackageWrites) {
  constexpr std::string_view header =
      R"({"__metadata__":{"format":"np"},"b":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},)"
      R"("s":{"dtype":"F32","shape":[],"data_offsets":[16,20]},"e":{"dtype":"U8","shape":[0],"data_offsets":[20,20]}} )";
  const auto read = parse_safetensors_header(header, 20, "f").value();
  ASSERT_EQ(read.tensors.size(), 3u);
  EXPECT_EQ(read.tensors[1].info, (TensorInfo{"s", ElementType::f32, {}}));
  EXPECT_EQ(read.metadata.at("format"), "np");
}

TEST(Safetensors, AFileCutAtAnyByteIsRefusedByName) {
  const TemporaryFolder folder;
  const std::string whole = two_tensors();
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    write(folder / "cut.safetensors", whole.substr(0, bytes));
    const auto read = read_safetensors_header(folder / "cut.safetensors");
    ASSERT_FALSE(read) << bytes;
    EXPECT_EQ(read.error().kind, ErrorKind::unreadable);
    EXPECT_THAT(read.error().message, ::testing::StartsWith((folder / "cut.safetensors").string()));
    EXPECT_THAT(read.error().message, ::testing::HasSubstr("truncated")) << "cut at byte " << bytes;
  }
}

TEST(Safetensors, AFlippedBitInTheLengthIsRefused) {
  const TemporaryFolder folder;
  const std::string whole = two_tensors();
  for (std::size_t bit = 0; bit < 64; ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    write(folder / "flipped.safetensors", flipped);
    EXPECT_FALSE(read_safetensors_header(folder / "flipped.safetensors")) << bit;
  }
}

TEST(Safetensors, AFlippedBitInTheHeaderNeverLetsATensorLeaveTheFile) {
  const std::string whole = two_tensors();
  const std::string header = whole.substr(8, whole.size() - 8 - 11);
  int refused = 0;
  int read_as_other = 0;  // another name or type of equal size is a sound file; checksums are there for that
  for (std::size_t at = 0; at < header.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = header;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      const auto read = parse_safetensors_header(flipped, 11, "f");
      ++(read ? read_as_other : refused);
      if (!read) continue;
      std::uint64_t end = 0;
      for (const StoredTensor& tensor : read->tensors) {
        EXPECT_EQ(tensor.begin, end);
        end = tensor.end;
      }
      EXPECT_EQ(end, 11u);
    }
  EXPECT_GT(refused, 500);
  EXPECT_GT(read_as_other, 50);
}

struct HostileHeader {
  const char* header;
  std::uint64_t data_bytes;
  const char* reason;
};

TEST(Safetensors, HostileHeadersAreRefusedWithTheReason) {
  const HostileHeader table[]{
      {"", 0, "is truncated or damaged: byte "},
      {"[]", 0, "must be a JSON object"},
      {"{}", 1, "has bytes after its last tensor"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       8, R"(the key "a" appears twice)"},
      {R"({"a":{"dtype":"F32","dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 4, R"("dtype" appears twice)"},
      {R"({"a":{"dtype":"F33","shape":[1],"data_offsets":[0,4]}})", 4, R"(tensor "a": the type "F33" is not known)"},
      {R"({"a":{"dtype":5,"shape":[1],"data_offsets":[0,4]}})", 4, R"("dtype" must be a string)"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", 4, R"("shape" must be a list)"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4, "must be a whole number of at least 0"},
      {R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4, "must be a whole number of at least 0"},
      {R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})", 4,
       "must be a whole number of at least 0"},
      {R"({"a":{"dtype":"U8","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", 0, "2^63 bytes or more"},
      {R"({"a":{"dtype":"F32","shape":[1]}})", 4, R"("data_offsets" must be a list)"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0]}})", 4, "must be two whole numbers of at least 0"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})", 4, "must be two whole numbers of at least 0"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})", 4,
       "its bytes are 4 to 0, but its type and shape need 4"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4, "need 8"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", 8,
       "begin at 4, after the end of the previous tensor at 0"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
       6, R"(tensor "b": its bytes begin at 2, before the end of the previous tensor at 4)"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[6,10]}})",
       10, R"(tensor "b": its bytes begin at 6, after)"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 3,
       "is truncated: its tensors have 4 bytes, but 3 follow"},
      {R"({"a":[]})", 0, R"("dtype" must be a string)"},
      {R"({"__metadata__":{"step":7}})", 0, "every value in __metadata__ must be a string"},
      {R"({"__metadata__":[]})", 0, "every value in __metadata__ must be a string"},
      {R"({"a":[[[[[[[[[[0]]]]]]]]]]})", 0, "more than 8 levels"},
      {"{\"a\xFF\":{}}", 0, "damaged: byte 4 is not valid JSON"},
      {"{\"a\\n\":{}}", 0, R"(tensor "a\n": "dtype")"},
  };
  for (const HostileHeader& row : table) {
    const auto read = parse_safetensors_header(row.header, row.data_bytes, "f.safetensors");
    ASSERT_FALSE(read) << row.header;
    EXPECT_TRUE(read.error().message.starts_with("f.safetensors: ")) << read.error().message;
    EXPECT_NE(read.error().message.find(row.reason), std::string::npos) << read.error().message;
  }
}

TEST(Safetensors, AHeaderLongerThanTheFormatAllowsIsNotEvenRead) {
  const TemporaryFolder folder;
  for (const std::uint64_t length : {std::uint64_t{100'000'001}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    write(folder / "f", with_length(length, "{}"));
    const auto read = read_safetensors_header(folder / "f");
    ASSERT_FALSE(read);
    EXPECT_NE(read.error().message.find(format("would have {} bytes", length)), std::string::npos)
        << read.error().message;
  }
}

TEST(Safetensors, AHeaderOfMillionsOfBracketsTakesNoTime) {
  const std::string brackets(20'000'000, '[');  // NOLINT(bugprone-string-constructor): meant to be long
  const auto read = parse_safetensors_header(R"({"a":)" + brackets, 0, "f");
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("levels"), std::string::npos);
}

TEST(Safetensors, AFolderOrAnAbsentFileIsNamed) {
  const TemporaryFolder folder;
  for (const auto& path : {folder.path(), folder / "absent"}) {
    const auto read = read_safetensors_header(path);
    ASSERT_FALSE(read);
    EXPECT_TRUE(read.error().message.starts_with(path.string() + " ")) << read.error().message;
  }
}

}  // namespace
}  // namespace rankscope::trainer
