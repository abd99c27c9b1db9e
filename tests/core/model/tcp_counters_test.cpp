#include "rankscope/core/model/tcp_counters.h"

#include <gtest/gtest.h>

namespace rankscope {
namespace {

TEST(TcpCounters, AreReadAsTheyWereNamed) {
  for (const TcpTotal total : {TcpTotal::sent_bytes, TcpTotal::backlog_seconds, TcpTotal::backlog_bytes}) {
    const std::string name = counter_name_of({"10.0.0.1:40543", "[fe80::1]:51100", total});
    const auto read = tcp_counter_from(name);
    ASSERT_TRUE(read) << name;
    EXPECT_EQ(read->local, "10.0.0.1:40543");
    EXPECT_EQ(read->remote, "[fe80::1]:51100");
    EXPECT_EQ(read->total, total);
  }
}

TEST(TcpCounters, OtherNamesAreNoneOfThem) {
  for (const char* name : {"", "tcp ", "rss_bytes", "tcp a sent_bytes", "tcp a to", "tcp a to b", "tcp a to b lost",
                           "tcp a to sent_bytes", "tcpa to b sent_bytes"})
    EXPECT_FALSE(tcp_counter_from(name)) << name;
}

}  // namespace
}  // namespace rankscope
