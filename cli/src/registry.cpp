#include <array>

#include "verb.h"

namespace rankscope::cli {
namespace {

constexpr std::array all{
    Verb{"record", "run a command and record its processes", declare_record, true},
    Verb{"train", "run and record the reference trainer", declare_train, true},
    Verb{"report", "show which rank, operation or link makes steps slow, and why", declare_report},
    Verb{"compare", "show whether one run is slower than another, and where", declare_compare},
    Verb{"gate", "pass or fail a run against a baseline, for CI", declare_gate},
    Verb{"hang", "show which rank of a hung or crashed job stopped first, where and why", declare_hang},
    Verb{"whatif", "predict how long steps would be after a change", declare_whatif},
    Verb{"scale", "show how step time grows with the number of ranks", declare_scale},
    Verb{"export", "write a recording in the format of another tool", declare_export},
    Verb{"pack", "pack a run into one file to send to someone", declare_pack},
    Verb{"view", "show a recording on a timeline", declare_view},
    Verb{"dump", "print a recording as text", declare_dump},
    Verb{"doctor", "check what can be recorded on this machine", declare_doctor},
};

}  // namespace

std::span<const Verb> verbs() { return all; }

}  // namespace rankscope::cli
