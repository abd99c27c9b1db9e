#include "importers/kineto/decimal.h"

#include <gtest/gtest.h>

namespace rankscope::analyzer::kineto {
namespace {

TEST(TraceNumbers, MicrosecondsBecomeExactNanoseconds) {
  EXPECT_EQ(nanoseconds_of("4458676524648.797"), 4458676524648797);
  EXPECT_EQ(nanoseconds_of("1682725898236567"), 1682725898236567000);
  EXPECT_EQ(nanoseconds_of("1712195495506161.2"), 1712195495506161200);
  EXPECT_EQ(nanoseconds_of("0"), 0);
  EXPECT_EQ(nanoseconds_of("0.001"), 1);
}

TEST(TraceNumbers, DigitsBeyondNanosecondsAreRounded) {
  EXPECT_EQ(nanoseconds_of("1.2344"), 1234);
  EXPECT_EQ(nanoseconds_of("1.2345"), 1235);
  EXPECT_EQ(nanoseconds_of("1.9999"), 2000);
  EXPECT_EQ(nanoseconds_of("1712195495506161.123456789"), 1712195495506161123);
}

TEST(TraceNumbers, ExponentsAndSignsAreUnderstood) {
  EXPECT_EQ(nanoseconds_of("1.5e3"), 1500000);
  EXPECT_EQ(nanoseconds_of("1500e-3"), 1500);
  EXPECT_EQ(nanoseconds_of("-2.5"), -2500);
  EXPECT_EQ(nanoseconds_of("1e-9"), 0);
}

TEST(TraceNumbers, WhatIsNoTimeIsNothing) {
  for (const char* const text :
       {"", "inf", "nan", "1.2.3", "12a", "e5", "-", ".", "1e", "1e99", "99999999999999999999"})
    EXPECT_EQ(nanoseconds_of(text), std::nullopt) << text;
}

TEST(TraceNumbers, IntegersAboveTheLargestAreNoIntegers) {
  EXPECT_EQ(integer_of("9223372036854775807"), 9223372036854775807);
  EXPECT_EQ(integer_of("10159970886766084423"), std::nullopt);
  EXPECT_EQ(integer_of("1.0"), std::nullopt);
}

/// As the scanner hands over what stands before the comma.
Value scanned(std::string_view text) {
  Scanner scanner{text.data(), text.data() + text.size()};
  Value value;
  EXPECT_EQ(scanner.value(value), Scan::ok) << text;
  EXPECT_EQ(value.raw.size() + 1, text.size());
  return value;
}

TEST(TraceNumbers, ScannedNumbersAreThoseOfTheirText) {
  for (const char* const text : {"0,",
                                 "-0,",
                                 "7,",
                                 "-12,",
                                 "1.5,",
                                 "-2.5,",
                                 "0.001,",
                                 "1.2345,",
                                 "1682725898236567,",
                                 "1712195495506161.123,",
                                 "1712195495506161.123456789,",
                                 "9223372036854775807,",
                                 "-9223372036854775807,",
                                 "-9223372036854775808,",
                                 "9223372036854775808,",
                                 "10159970886766084423,",
                                 "99999999999999999999,",

                                 "2305843009213694,",
                                 "1e3,",
                                 "1.,",
                                 "12abc,"}) {
    const Value value = scanned(text);
    EXPECT_EQ(value.kind, ValueKind::number) << text;
    EXPECT_EQ(integer_of(value), integer_of(value.raw)) << text;
    EXPECT_EQ(nanoseconds_of(value), nanoseconds_of(value.raw)) << text;
  }
}

TEST(TraceNumbers, WhatBeginsLikeANumberButIsNoneIsNotTakenForOne) {
  for (const char* const text : {"-,", "-inf,", "nan,", ".5,"})
    EXPECT_EQ(scanned(text).kind, ValueKind::absent) << text;
}

TEST(TraceNumbers, OnlyWhatJsonCallsANumberIsOne) {
  for (const char* text : {"0", "-0", "-1", "0.5", "1.5", "1e5", "1.5E-3", "0e1", "10", "18446744073709551615"})
    EXPECT_TRUE(is_json_number(text)) << text;
  for (const char* text : {"", "-", "12abc", "1.2.3", "1.", ".5", "1e", "nan", "inf", "+1", "007.5", "-00.1", "00",
                           "01e5", "1e999", "0x10", "1 ", "1e5.5"})
    EXPECT_FALSE(is_json_number(text)) << text;
}

}  // namespace
}  // namespace rankscope::analyzer::kineto
