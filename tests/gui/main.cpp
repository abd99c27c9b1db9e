// Tests of the viewer share one application, which needs no screen and keeps no settings.
#include <gtest/gtest.h>

#include <QApplication>
#include <QSettings>
#include <QStandardPaths>

#include "support/temporary_folder.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  const rankscope::testing::TemporaryFolder settings;
  QStandardPaths::setTestModeEnabled(true);
  QSettings::setDefaultFormat(QSettings::IniFormat);
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, QString::fromStdString(settings.path().string()));
  const QApplication application(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("rankscope"));
  QApplication::setApplicationName(QStringLiteral("tests"));
  return RUN_ALL_TESTS();
}
