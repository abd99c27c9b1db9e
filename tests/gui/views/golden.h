// Pictures without text against pictures that were looked at. RANKSCOPE_UPDATE_GOLDEN=1 paints these anew.
#pragma once

#include <gtest/gtest.h>

#include <QImage>

namespace rankscope::testing {

inline void expect_painted(const char* name, QImage painted) {
  const QString file = QStringLiteral(RANKSCOPE_GUI_GOLDEN "/%1.png").arg(QString::fromLatin1(name));
  painted.setDevicePixelRatio(1);
  if (qEnvironmentVariableIsSet("RANKSCOPE_UPDATE_GOLDEN")) {
    ASSERT_TRUE(painted.save(file));
  }
  const QImage golden = QImage{file}.convertToFormat(QImage::Format_RGB32);
  ASSERT_FALSE(golden.isNull()) << file.toStdString();
  EXPECT_TRUE(golden == painted) << file.toStdString();
}

}  // namespace rankscope::testing
