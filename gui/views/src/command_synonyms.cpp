#include "command_synonyms.h"

#include <algorithm>
#include <array>

namespace rankscope::gui {
namespace {

constexpr std::array all{
    Synonyms{"zoom_in", "magnify closer larger"},
    Synonyms{"zoom_out", "smaller farther"},
    Synonyms{"fit", "zoom out whole everything full reset fit entire"},
    Synonyms{"zoom_selection", "fit magnify"},
    Synonyms{"earlier", "pan left before"},
    Synonyms{"later", "pan right after"},
    Synonyms{"back", "undo previous history"},
    Synonyms{"forward", "redo history"},
    Synonyms{"search", "find filter highlight look"},
    Synonyms{"next_match", "find hit"},
    Synonyms{"previous_match", "find hit"},
    Synonyms{"find_ranks", "find filter search show hide only gpu process"},
    Synonyms{"next_collective", "nccl allreduce collective comm"},
    Synonyms{"previous_collective", "nccl allreduce collective comm"},
    Synonyms{"next_step", "iteration batch"},
    Synonyms{"previous_step", "iteration batch"},
    Synonyms{"next_finding", "problem issue warning bottleneck"},
    Synonyms{"previous_finding", "problem issue warning bottleneck"},
    Synonyms{"follow", "flow launch link"},
    Synonyms{"follow_back", "flow launch link"},
    Synonyms{"mark", "bookmark flag"},
    Synonyms{"keep_mark", "bookmark flag"},
    Synonyms{"remove_mark", "bookmark flag delete"},
    Synonyms{"note", "comment annotate text"},
    Synonyms{"copy", "clipboard"},
    Synonyms{"save_view", "save session state bookmark"},
    Synonyms{"picture", "screenshot image png svg save image snapshot print"},
    Synonyms{"export", "save write trace json pftrace tracing"},
    Synonyms{"clear", "deselect unselect none"},
    Synonyms{"pin", "favourite favorite top"},
    Synonyms{"critical_path", "longest chain"},
    Synonyms{"colour", "color"},
    Synonyms{"fold", "collapse close hide"},
    Synonyms{"unfold", "expand open show"},
    Synonyms{"fold_one", "collapse expand"},
    Synonyms{"taller", "bigger higher larger height"},
    Synonyms{"lower", "smaller height"},
    Synonyms{"operators", "flame graph flamegraph stack call tree"},
    Synonyms{"memory", "ram vram allocation leak peak"},
    Synonyms{"pipeline", "bubble micro-batch stage"},
    Synonyms{"panels", "docks sidebar hide show full screen"},
    Synonyms{"help", "shortcuts keyboard hotkeys bindings"},
    Synonyms{"open_recording", "load folder"},
    Synonyms{"open_files", "load trace kineto nsys pack import"},
    Synonyms{"record", "profile capture trace start"},
    Synonyms{"quit", "exit close"},
    Synonyms{"theme_desktop", "mode appearance system automatic"},
    Synonyms{"theme_light", "mode appearance bright white day"},
    Synonyms{"theme_dark", "mode appearance black night"},
    Synonyms{"legend", "legend key meaning color hatching"},
    Synonyms{"docs", "manual help documentation guide"},
    Synonyms{"about", "version licence license"},
};

}  // namespace

std::span<const Synonyms> synonyms() { return all; }

QString synonyms_of(const QString& id) {
  const std::string wanted = id.toStdString();
  const auto found = std::ranges::find(all, wanted, &Synonyms::id);
  return found == all.end() ? QString{}
                            : QString::fromUtf8(found->words.data(), static_cast<qsizetype>(found->words.size()));
}

}  // namespace rankscope::gui
