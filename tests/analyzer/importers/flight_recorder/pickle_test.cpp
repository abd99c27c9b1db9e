#include "importers/flight_recorder/pickle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "importers/flight_recorder/dump.h"
#include "importers/shared/json_values.h"

namespace rankscope::analyzer::flight_recorder {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;

tl::expected<ValueRef, Fault> read(std::string_view bytes) {
  PlainValues values;
  return read_pickle(bytes, values);
}

TEST(Pickle, ReadsWhatProtocol2Writes) {
  // {'a': [1, -2, None, True, 2.5], 'b': (7, 300)}
  const std::string bytes = "\x80\x02}q\x00(X\x01\x00\x00\x00"s +
                            "aq\x01]q\x02(K\x01J\xfe\xff\xff\xffN\x88G\x40\x04\x00\x00\x00\x00\x00\x00"s +
                            "eX\x01\x00\x00\x00"s + "bq\x03K\x07M\x2c\x01\x86q\x04u."s;
  PlainValues values;
  const auto root = read_pickle(bytes, values);
  ASSERT_TRUE(root) << root.error().why;
  const auto list = values.items_of(values.find(*root, "a"));
  ASSERT_EQ(list.size(), 5U);
  EXPECT_EQ(values.number_of(list[0]), 1);
  EXPECT_EQ(values.number_of(list[1]), -2);
  EXPECT_EQ(values.number_of(list[2]), std::nullopt);
  EXPECT_EQ(values.number_of(list[3]), 1);
  EXPECT_EQ(values.number_of(list[4]), 2);
  EXPECT_EQ(values.number_of(values.items_of(values.find(*root, "b"))[1]), 300);
}

TEST(Pickle, ReadsFramesAndMemoizedNamesOfProtocol4) {
  // ['ab', 'ab', -1 as LONG1]
  const std::string bytes =
      "\x80\x04\x95\x0e\x00\x00\x00\x00\x00\x00\x00]\x94(\x8c\x02"s + "ab\x94h\x01\x8a\x01\xff"s + "e."s;
  PlainValues values;
  const auto root = read_pickle(bytes, values);
  ASSERT_TRUE(root) << root.error().why;
  const auto list = values.items_of(*root);
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(values.text_of(list[1]), "ab");
  EXPECT_EQ(values.number_of(list[2]), -1);
}

TEST(Pickle, RefusesByNameWhatWouldBeExecuted) {
  const auto call = read("\x80\x02"s + "cos\nsystem\n(X\x02\x00\x00\x00"s + "idtR."s);
  ASSERT_FALSE(call);
  EXPECT_EQ(call.error().kind, FaultKind::refused);
  EXPECT_THAT(call.error().why, HasSubstr("GLOBAL"));
  EXPECT_THAT(read("\x80\x04]R."s).error().why, HasSubstr("REDUCE"));
  EXPECT_THAT(read("\x80\x04\x93."s).error().why, HasSubstr("STACK_GLOBAL"));
  EXPECT_THAT(read("\x80\x02}b."s).error().why, HasSubstr("BUILD"));
}

TEST(Pickle, EveryCutIsFound) {
  const std::string whole = "\x80\x02}q\x00(X\x01\x00\x00\x00"s + "aq\x01]q\x02(K\x01K\x02"s + "eu."s;
  ASSERT_TRUE(read(whole));
  for (std::size_t size = 1; size < whole.size(); ++size) {
    const auto cut = read(std::string_view{whole}.substr(0, size));
    ASSERT_FALSE(cut) << size;
    EXPECT_EQ(cut.error().kind, FaultKind::cut) << size << ": " << cut.error().why;
  }
  EXPECT_EQ(read("").error().kind, FaultKind::empty);
}

TEST(Pickle, HostileLengthsAndDepthsAreRefusedInOneSentence) {
  // A string of 2^40 bytes.
  EXPECT_EQ(read("\x80\x04\x8d\x00\x00\x00\x00\x00\x01\x00\x00x."s).error().kind, FaultKind::cut);
  EXPECT_EQ(read("\x80\x02"s + std::string(100000, '(')).error().kind, FaultKind::refused);
  EXPECT_EQ(read("\x80\x02"s + std::string(100000, ']') + std::string(99999, 'a') + '.').has_value(), true)
      << "nested lists are only numbers here: nothing recurses";
  EXPECT_EQ(read("\x80\x02]r\xff\xff\xff\x7f."s).error().kind, FaultKind::damaged) << "a store far beyond the input";
  EXPECT_EQ(read("\x80\x02h\x00."s).error().kind, FaultKind::damaged);
}

TEST(Pickle, AMemoBombStaysSmall) {
  // Each list holds the one before ten times: 10^60 values, were they copied.
  std::string bytes = "\x80\x02]q\x00"s;
  for (char i = 0; i < 60; ++i) {
    bytes += "](";
    for (int k = 0; k < 10; ++k) bytes += std::string{'h', i};
    bytes += std::string{'e', 'q', static_cast<char>(i + 1)};
  }
  // What was pushed before the last list remains on the stack, and is removed from below it by a tuple.
  PlainValues values;
  const auto root = read_pickle("\x80\x02("s + bytes.substr(2) + "t."s, values);
  ASSERT_TRUE(root) << root.error().why;
  EXPECT_EQ(values.items_of(*root).size(), 61U);
}

// A dump whose value for `key` is a list of that many references to one value.
std::string dump_of_references(std::string_view key, std::string_view value, std::size_t count) {
  std::string bytes = "\x80\x02}("s;
  const auto add_text = [&bytes](std::string_view text) {
    bytes += "\x8c"s + static_cast<char>(text.size()) + std::string{text};
  };
  add_text("version");
  add_text("2.10");
  add_text(key);
  bytes += ']';
  bytes += std::string{value} + "q\x01"s + "0(";  // stored, and taken off again
  for (std::size_t i = 0; i < count; ++i) bytes += "h\x01";
  return bytes + "eu.";
}

TEST(Dump, MoreOperationsThanAnyJobHasAreRefused) {
  PlainValues values;
  const std::string bytes = dump_of_references("entries", "}", (std::size_t{1} << 20) + 1);
  const auto root = read_pickle(bytes, values);
  ASSERT_TRUE(root) << root.error().why;
  const auto dump = dump_from(values, *root);
  ASSERT_FALSE(dump);
  EXPECT_EQ(dump.error().kind, FaultKind::refused);
  EXPECT_THAT(dump.error().why, HasSubstr("has more than 1048576 operations"));
}

TEST(Dump, AFewReferencesAreRead) {
  PlainValues values;
  const std::string bytes = dump_of_references("entries", "}", 3);
  const auto root = read_pickle(bytes, values);
  ASSERT_TRUE(root) << root.error().why;
  const auto dump = dump_from(values, *root);
  ASSERT_TRUE(dump) << dump.error().why;
  EXPECT_EQ(dump->entries.size(), 3U);
}

TEST(Pickle, AValueThatIsRepeatedTooOftenIsRefused) {
  const auto repeated = read("\x80\x02N"s + std::string(PlainValues::most + 1, '2') + '.');
  ASSERT_FALSE(repeated);
  EXPECT_EQ(repeated.error().kind, FaultKind::refused);
}

TEST(JsonValues, ACutAndADamagedFileAreToldApart) {
  PlainValues values;
  EXPECT_EQ(read_json("{\"a\": [1, 2", values).error().kind, FaultKind::cut);
  EXPECT_EQ(read_json("{\"a\": [1, 2", values).error().why.find("byte") != std::string::npos, true);
  EXPECT_EQ(read_json("{\"a\" 1}", values).error().kind, FaultKind::damaged);
  EXPECT_EQ(read_json(" \n", values).error().kind, FaultKind::empty);
  EXPECT_EQ(read_json(std::string(1000, '['), values).error().kind, FaultKind::refused);
  const auto root = read_json("{\"a\": \"12\", \"b\": 1.5}", values);
  ASSERT_TRUE(root);
  EXPECT_EQ(values.number_of(values.find(*root, "a")), 12);
}

}  // namespace
}  // namespace rankscope::analyzer::flight_recorder
