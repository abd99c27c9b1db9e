// What holds for every panel, with recordings of several kinds.
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QComboBox>
#include <QLineEdit>
#include <filesystem>
#include <set>

#include "gui/runs.h"
#include "gui/views/pictures.h"
#include "rankscope/core/model/run.h"
#include "rankscope/gui/views/registry.h"

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;

QString name_of_panel(const PanelInfo& panel) {
  return QString::fromUtf8(panel.id.data(), static_cast<qsizetype>(panel.id.size()));
}

TEST(Panels, HaveIdsOfTheirOwnAndNamesForEachControl) {
  Session session;
  std::set<std::string_view> ids;
  for (const PanelInfo& info : panels()) {
    EXPECT_TRUE(ids.insert(info.id).second) << info.id;
    const std::unique_ptr<QWidget> panel{info.make(session, nullptr)};
    for (const auto* const table : panel->findChildren<QAbstractItemView*>()) {
      const bool is_popup = table->objectName().isEmpty();  // the list of a combo box
      EXPECT_TRUE(is_popup || !table->accessibleName().isEmpty())
          << info.id << ": " << table->objectName().toStdString();
    }
    for (const auto* const field : panel->findChildren<QLineEdit*>())
      EXPECT_FALSE(field->accessibleName().isEmpty()) << info.id;
    for (const auto* const choice : panel->findChildren<QComboBox*>())
      EXPECT_FALSE(choice->accessibleName().isEmpty()) << info.id;
  }
}

TEST(Panels, ShowARunWithASlowRank) {
  Session session;
  std::vector<std::unique_ptr<QWidget>> made;
  for (const PanelInfo& info : panels()) made.emplace_back(info.make(session, nullptr));
  for (const auto& panel : made) panel->show();
  ASSERT_TRUE(testing::shows(session, testing::run_with_slow_rank()));
  session.select(testing::nth_span(*session.run(), RankId{2}, SpanKind::op, 30));
  const auto listed = [&](const char* table) {
    for (const auto& panel : made)
      if (const auto* const found = panel->findChild<QAbstractItemView*>(QString::fromLatin1(table)))
        return found->model()->rowCount() > 0;
    return false;
  };
  for (const char* const table : {"details_table", "rank_times", "name_times", "efficiency_table", "events_table"})
    EXPECT_TRUE(testing::comes_true([&] { return listed(table); })) << table;
  for (std::size_t i = 0; i < made.size(); ++i)
    testing::paint(*made[i], {760, 300}, QStringLiteral("panel_") + name_of_panel(panels()[i]));
}

/// All of them together: each is opened, an event is selected, an area is chosen, and every panel is painted.
TEST(Panels, TakeRecordingsOfRealJobs) {
  const fs::path folder = fs::path{RANKSCOPE_SHARED_DATA} / "kineto";
  if (std::string_view{RANKSCOPE_SHARED_DATA}.empty() || !fs::exists(folder))
    GTEST_SKIP() << "no recordings of other profilers (RANKSCOPE_SHARED_DATA)";
  Session session;
  std::vector<std::unique_ptr<QWidget>> made;
  for (const PanelInfo& info : panels()) made.emplace_back(info.make(session, nullptr));
  for (const auto& panel : made) panel->show();
  for (const char* const name : {"nccl_args_a100", "ddp_v100_rank1of2", "ns_resolution_v100", "triton"}) {
    session.open({.paths = {folder / name}});
    ASSERT_TRUE(testing::comes_true([&] {
      return session.state() == LoadState::ready && session.source().paths.front() == folder / name;
    })) << name;
    const SpanId last{static_cast<std::uint32_t>(session.run()->spans().size() - 1)};
    session.select(last);
    session.select_area(Area{session.extent(), {session.run()->span(last).lane}});
    for (std::size_t i = 0; i < made.size(); ++i)
      testing::paint(*made[i], {760, 300},
                     QStringLiteral("%1_%2").arg(QString::fromLatin1(name), name_of_panel(panels()[i])));
  }
}

}  // namespace
}  // namespace rankscope::gui
