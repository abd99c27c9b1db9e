# What the shell scripts share: steps that hide their noise in a log, and failures that say what to do. Sourced, not run.
# shellcheck shell=bash
export LC_ALL=C.UTF-8
RS_ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
RS_LOGS=$RS_ROOT/build/logs
RS_SELF=$(cd "$(dirname "$0")" && pwd)/${0##*/}
RS_STEP=0
RS_STEPS=0 # how many steps a script has, when it numbers them
cd "$RS_ROOT" || exit
mkdir -p "$RS_LOGS"

# The comment at the top of a script is its help.
usage() { awk 'NR > 1 { if (!/^#/) exit; sub(/^# ?/, ""); print }' "$RS_SELF"; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# Compilers that fit: one per core, and 2 GiB of memory for each (a file that includes torch needs about that).
jobs() {
  awk -v cores="$(nproc)" '/^MemAvailable/ { fit = int($2 / 2097152); n = fit < cores ? fit : cores; print n < 1 ? 1 : n }' \
    /proc/meminfo 2>/dev/null || echo 2
}

# Tests at a time: many of them train with several processes of their own.
test_jobs() {
  local most
  most=$(jobs)
  echo $((most < 4 ? most : 4))
}

# Runs a command as root; sudo is used only when it is needed.
as_root() {
  if [[ $(id -u) == 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    echo "root is needed for: $*" >&2
    return 1
  fi
}

# announce TITLE: the heading of a step that prints its own output.
announce() {
  RS_STEP=$((RS_STEP + 1))
  printf '[%d/%d] %s\n' "$RS_STEP" "$RS_STEPS" "$1"
}

# step TITLE LOG ADVICE COMMAND...: runs COMMAND with its output in build/logs/LOG. A terminal sees one live line,
# anything else a line at the start and at the end and one a minute. On failure: the step, the last lines, the advice.
# RS_PROGRESS may name a function that prints a short text, shown instead of the last line of the log.
step() {
  local title=$1 log=$RS_LOGS/$2 advice=$3 began=$SECONDS pid status=0 label
  shift 3
  RS_STEP=$((RS_STEP + 1))
  label="[$RS_STEP/$RS_STEPS] $title"
  [[ $RS_STEPS != 0 ]] || label="-- $title"
  set -m # its own process group, so that an interrupt ends all of it
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  set +m
  # shellcheck disable=SC2064  # the pid of now
  trap "kill -- -$pid 2>/dev/null; exit 130" INT TERM
  [[ -t 1 ]] || printf '%s\n' "$label"
  step_watch "$pid" "$label" "$log" "$began"
  wait "$pid" || status=$?
  trap - INT TERM
  [[ ! -t 1 ]] || printf '\r\033[K'
  if [[ $status != 0 ]]; then
    printf '%s: FAILED after %d s (exit status %d)\n' "$label" $((SECONDS - began)) "$status" >&2
    printf '%s\n' "  last lines of ${log#"$RS_ROOT"/}:" >&2
    tail -n 15 "$log" | tr '\r' '\n' | sed 's/^/    /' >&2
    printf '  what to do: %s\n' "$advice" >&2
    exit "$status"
  fi
  if [[ -t 1 ]]; then
    printf '%s: %d s\n' "$label" $((SECONDS - began))
  else
    printf '    done after %d s\n' $((SECONDS - began))
  fi
}

step_watch() {
  local pid=$1 label=$2 log=$3 began=$4 text last=0 elapsed columns between=60
  [[ ! -t 1 ]] || last=-1 between=1
  columns=$(tput cols 2>/dev/null || echo 80)
  while kill -0 "$pid" 2>/dev/null; do
    elapsed=$((SECONDS - began))
    if [[ $((elapsed - last)) -ge $between ]]; then
      last=$elapsed
      text=$("${RS_PROGRESS:-step_last_line}" "$log")
      if [[ -t 1 ]]; then
        text="$label  $elapsed s  $text"
        printf '\r\033[K%s' "${text:0:columns-1}"
      else
        printf '    %d s  %s\n' "$elapsed" "${text:0:100}"
      fi
    fi
    sleep 0.2
  done
}

step_last_line() { tail -c 400 "$1" 2>/dev/null | tr '\r' '\n' | tr -d '\033' | grep -v '^[[:space:]]*$' | tail -n 1 || true; }

# For RS_PROGRESS: ninja's own count, "[12/80]".
ninja_progress() { grep -oE '^\[[0-9]+/[0-9]+\]' "$1" 2>/dev/null | tail -n 1 || true; }
