#include "timeline/renderer.h"

#include <utility>

namespace rankscope::gui {

Renderer::Renderer(QObject* parent) : QObject(parent), thread_([this](const std::stop_token& stop) { work(stop); }) {}

Renderer::~Renderer() {
  thread_.request_stop();
  thread_.join();
}

std::uint64_t Renderer::request(Scene scene, double scroll) {
  {
    const std::lock_guard lock{mutex_};
    next_ = Request{++number_, std::move(scene), scroll};
  }
  wake_.notify_one();
  return number_;
}

void Renderer::work(const std::stop_token& stop) {
  while (true) {
    std::optional<Request> request;
    {
      std::unique_lock lock{mutex_};
      if (!wake_.wait(lock, stop, [this] { return next_.has_value(); })) return;
      request = std::exchange(next_, std::nullopt);
    }
    const Frame frame{request->number, paint(request->scene), request->scene.time, request->scroll};
    mailbox_.put([this, frame] { Q_EMIT painted(frame); });
  }
}

}  // namespace rankscope::gui
