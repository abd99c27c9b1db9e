"""Debian's chromium without a display, for the scripts that look at exports in their viewers. Imported, not run."""
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

CANNOT_RUN = 77


class CannotRun(Exception):
    """Something is missing on this machine; the message says what to install."""


def run_or_say(command, advice):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise CannotRun(f"{' '.join(map(str, command))} failed ({advice}): {done.stderr.strip()[-300:]}")


def browser_programs():
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not chromium or not driver:
        raise CannotRun("no chromium or chromedriver: apt install chromium chromium-driver")
    try:
        import selenium  # noqa: F401
    except ImportError as missing:
        raise CannotRun("no selenium for this Python: apt install python3-selenium, run with /usr/bin/python3") from missing
    return chromium, driver


@contextlib.contextmanager
def browser(size="1600x1000"):
    """A browser that reaches nothing but 127.0.0.1, stopped with everything it started."""
    chromium, driver = browser_programs()
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    profile = tempfile.mkdtemp(prefix="headless_browser.")
    settings = webdriver.ChromeOptions()
    settings.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--user-data-dir={profile}",
                     "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
                     f"--window-size={size.replace('x', ',')}", "--hide-scrollbars",
                     "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"):
        settings.add_argument(argument)
    service = Service(driver)
    started = []
    try:
        opened = webdriver.Chrome(service=service, options=settings)
        started = descendants(service.process.pid)
        try:
            yield opened
        finally:
            opened.quit()
    finally:
        service.stop()
        stop(started)
        shutil.rmtree(profile, ignore_errors=True)


def descendants(pid):
    """A process and everything it started, as (pid, start time): a number alone could be somebody else's by now."""
    found, todo = [], [pid]
    while todo:
        current = todo.pop()
        born = start_time(current)
        if born is None:
            continue
        found.append((current, born))
        for children in Path(f"/proc/{current}/task").glob("*/children"):
            todo += [int(child) for child in children.read_text().split()]
    return found


def start_time(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[19]
    except OSError:
        return None


def stop(processes):
    """Ends what quit() left behind."""
    for pid, born in processes:
        if start_time(pid) == born:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
