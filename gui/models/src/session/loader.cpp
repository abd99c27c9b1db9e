#include "rankscope/gui/models/session/loader.h"

#include <algorithm>
#include <utility>

#include "rankscope/analyzer/open.h"
#include "rankscope/analyzer/report.h"
#include "rankscope/core/recording/manifest.h"
#include "rankscope/core/recording/recording.h"

namespace rankscope::gui {
namespace {

namespace fs = std::filesystem;

/// The recording that a manifest or segment is a part of; else the path itself.
fs::path whole(const fs::path& path) {
  if (path.filename() != recording::manifest_name && path.extension() != recording::segment_suffix) return path;
  std::error_code error;
  fs::path folder = fs::absolute(path, error).parent_path();
  if (folder.filename() == recording::segment_folder) folder = folder.parent_path();
  return error || recording::segments_of(folder).empty() ? path : folder;
}

}  // namespace

/// To the loader's thread, where it is dropped if other work has begun since.
void Loader::post(std::uint64_t generation, Mailbox::Letter letter) {
  mailbox_.put([this, generation, letter = std::move(letter)] {
    if (generation == generation_) letter();
  });
}

void Loader::start(Source source) { launch(std::move(source), nullptr); }
void Loader::start(std::shared_ptr<const Run> run) { launch({}, std::move(run)); }

void Loader::launch(Source source, std::shared_ptr<const Run> run) {
  cancel();
  busy_ = true;
  const std::uint64_t generation = generation_;
  workers_.push_back({generation, std::jthread{[this, generation, source = std::move(source),
                                                run = std::move(run)](const std::stop_token& stop) {
                        work(stop, generation, source, run);
                        mailbox_.put([this, generation] { forget(generation); });
                      }}});
}

void Loader::cancel() {
  ++generation_;
  busy_ = false;
  for (Worker& worker : workers_) worker.thread.request_stop();
}

void Loader::work(const std::stop_token& stop, std::uint64_t generation, const Source& source,
                  std::shared_ptr<const Run> run) {
  if (run == nullptr) {
    analyzer::ImportOptions options;
    options.rank_map = source.rank_map;
    options.texts = source.texts;
    options.progress = [this, &stop, generation](double share) {
      post(generation, [this, share] { Q_EMIT progressed(share); });
      return !stop.stop_requested();
    };
    auto opened = analyzer::open_run(source.paths, options);
    if (!opened) {
      post(generation, [this, error = opened.error()] {
        busy_ = false;
        Q_EMIT failed(error);
      });
      return;
    }
    run = *std::move(opened);
    post(generation, [this, run] { Q_EMIT runRead(run); });
  }
  if (stop.stop_requested()) return;
  const auto report = std::make_shared<const analyzer::Report>(analyzer::analyze(*run, {}));
  post(generation, [this, report] {
    busy_ = false;
    Q_EMIT reportMade(report);
  });
}

void Loader::forget(std::uint64_t generation) {
  std::erase_if(workers_, [generation](const Worker& worker) { return worker.generation == generation; });
}

Source with_whole_recordings(Source source) {
  std::vector<fs::path> paths;
  for (const fs::path& path : source.paths)
    if (fs::path one = whole(path); std::ranges::find(paths, one) == paths.end()) paths.push_back(std::move(one));
  source.paths = std::move(paths);
  return source;
}

}  // namespace rankscope::gui
