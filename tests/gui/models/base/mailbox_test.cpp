#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "gui/waiting.h"
#include "rankscope/gui/models/base/mailbox.h"

namespace rankscope::gui {
namespace {

TEST(Mailbox, CallsWhatOtherThreadsPutInInTheirOrderInItsOwnThread) {
  std::vector<int> seen;
  const auto here = std::this_thread::get_id();
  Mailbox mailbox;
  std::jthread other{[&] {
    for (int i = 0; i < 100; ++i)
      mailbox.put([&seen, i, here] { seen.push_back(std::this_thread::get_id() == here ? i : -1); });
  }};
  other.join();
  EXPECT_TRUE(seen.empty()) << "not before the event loop runs";
  ASSERT_TRUE(testing::comes_true([&] { return seen.size() == 100; }));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST(Mailbox, DropsWhatIsLeftWhenALetterDeletesIt) {
  const auto held = std::make_shared<int>();
  bool called = false;
  auto* const mailbox = new Mailbox;
  mailbox->put([mailbox] { delete mailbox; });
  mailbox->put([held, &called] { called = true; });
  EXPECT_TRUE(testing::comes_true([&] { return held.use_count() == 1; })) << "the letter is gone";
  EXPECT_FALSE(called);
}

}  // namespace
}  // namespace rankscope::gui
