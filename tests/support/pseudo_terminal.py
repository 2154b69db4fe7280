"""Commands on a terminal: a pseudo-terminal of 80 columns, its keyboard and screen."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

from processes import PATIENCE, command


def on_a_terminal(arguments: list[str], env: dict[str, str]) -> tuple[subprocess.Popen[bytes], int]:
    """A command on a terminal of 80 columns; the descriptor is its keyboard and screen."""
    keyboard, screen = pty.openpty()
    fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 80, 0, 0))
    process = subprocess.Popen(command(*arguments), env=env, stdin=screen, stdout=screen, stderr=screen)
    os.close(screen)
    return process, keyboard


def read_until(keyboard: int, words: str, seconds: float = PATIENCE) -> str:
    """What comes on the screen up to the wanted words, and not a byte more: the rest is for the next who reads."""
    text, end = b"", time.monotonic() + seconds
    while not text.endswith(words.encode()):
        assert time.monotonic() < end, text.decode(errors="replace")
        if select.select([keyboard], [], [], 0.1)[0]:
            text += os.read(keyboard, 1)
    return text.decode(errors="replace")
