// Reads and analyzes recordings away from the GUI thread.
#pragma once

#include <QObject>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "rankscope/core/model/run_parts.h"
#include "rankscope/core/result.h"
#include "rankscope/core/secrets.h"
#include "rankscope/gui/models/base/mailbox.h"

namespace rankscope::analyzer {
struct Report;
}  // namespace rankscope::analyzer

namespace rankscope::gui {

/// What a user points at: a recording, or traces of one kind.
struct Source {
  std::vector<std::filesystem::path> paths{};
  std::map<std::string, std::uint32_t> rank_map{};  ///< as analyzer::ImportOptions
  Texts texts = Texts::without_secrets;
};

/// One piece of work at a time; each start makes the one before it stale. All signals come in the loader's own thread,
/// and none of stale work: first the run, so that it can be shown, then its report.
class Loader : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;

  void start(Source source);
  /// Only the report of a run that is there already.
  void start(std::shared_ptr<const Run> run);
  /// No signal follows. A read ends at its next progress; an analysis runs to its end unseen.
  void cancel();
  [[nodiscard]] bool busy() const { return busy_; }

 Q_SIGNALS:
  void progressed(double share);  ///< of reading, 0..1
  void runRead(std::shared_ptr<const rankscope::Run> run);
  void reportMade(std::shared_ptr<const rankscope::analyzer::Report> report);
  void failed(const rankscope::Error& error);

 private:
  /// A thread and the number of the request that it works on; answers to older requests are ignored.
  struct Worker {
    std::uint64_t generation;
    std::jthread thread;
  };
  void launch(Source source, std::shared_ptr<const Run> run);
  void work(const std::stop_token& stop, std::uint64_t generation, const Source& source,
            std::shared_ptr<const Run> run);
  void forget(std::uint64_t generation);
  void post(std::uint64_t generation, Mailbox::Letter letter);

  std::uint64_t generation_ = 0;
  bool busy_ = false;
  Mailbox mailbox_;
  std::vector<Worker> workers_;  // the last one is not stale; the others are ending
};

/// A manifest or segment is replaced by the recording that it lies in, once; all else stays.
[[nodiscard]] Source with_whole_recordings(Source source);

}  // namespace rankscope::gui
