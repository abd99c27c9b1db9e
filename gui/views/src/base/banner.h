// Sentences above what they are about, until they are closed.
#pragma once

#include <QFrame>
#include <QLabel>

namespace rankscope::gui {

/// Hidden as long as there is nothing to say.
class Banner : public QFrame {
  Q_OBJECT

 public:
  explicit Banner(QWidget* parent);

  /// In place of what was said; with an empty text it hides.
  void say(const QString& sentences);
  [[nodiscard]] QString text() const { return text_->text(); }

 Q_SIGNALS:
  void closed();  ///< by the user

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void take_colours();

  QLabel* text_ = nullptr;
};

}  // namespace rankscope::gui
