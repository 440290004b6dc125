"""Processes of ours that answer questions, several at once; what they cannot answer is answered in this one.

A question is text, and an answer files by name, through pipes: a line of JSON with names and sizes, then the bytes.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from queue import Empty, SimpleQueue
from typing import IO

Files = dict[str, bytes]  # by their names
Answer = Callable[[str], Files]
UNANSWERED = (OSError, EOFError, ValueError)  # a process cannot be started, was killed, or failed at this question


class Companion:
    """A process that answers one question after another."""

    def __init__(self, module: str):
        path = os.pathsep.join(os.path.abspath(entry) for entry in sys.path)
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # what goes wrong is said by the process that then answers in its place
            env={**os.environ, "PYTHONPATH": path},
        )

    def ask(self, question: str) -> Files:
        """The answer; an exception of UNANSWERED where the process gives none."""
        assert self.process.stdin is not None and self.process.stdout is not None
        send(self.process.stdin, {"question": question.encode("utf-8", "surrogatepass")})
        return receive(self.process.stdout)

    def close(self) -> None:
        """End the process: it waits for a next question, or is no longer there."""
        assert self.process.stdin is not None and self.process.stdout is not None
        with suppress(OSError):
            self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Crew(AbstractContextManager["Crew"]):
    """So many processes of one sort, each started when it is first needed; `here` answers where none of them can."""

    def __init__(self, processes: int, module: str, here: Answer):
        self.companions: list[Companion] = []
        self._module, self._answer_here = module, here
        self._threads = ThreadPoolExecutor(processes, "companion")
        self._free: SimpleQueue[Companion] = SimpleQueue()
        self._here = threading.Lock()  # the library that paints does so once at a time

    def submit(self, question: str) -> Future[Files]:
        """Have a question answered."""
        return self._threads.submit(self.ask, question)

    def ask(self, question: str) -> Files:
        """The answer to a question, by a process that is free; by this one where that cannot be."""
        companion = None
        with suppress(Empty):
            companion = self._free.get_nowait()
        try:
            if companion is None:
                companion = Companion(self._module)
                self.companions.append(companion)
            answer = companion.ask(question)
        except UNANSWERED:
            with self._here:
                return self._answer_here(question)  # which also says in words what is wrong
        self._free.put(companion)
        return answer

    def __exit__(self, *_: object) -> None:
        self._threads.shutdown(cancel_futures=True)
        for companion in self.companions:
            companion.close()


def answer_questions(answer: Answer) -> None:
    """Answer what the parent asks, one question after another, until it closes the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group: the parent decides
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints does not get between the answers
    with suppress(EOFError):
        while True:
            send(answers, answer(receive(sys.stdin.buffer)["question"].decode("utf-8", "surrogatepass")))


def send(pipe: IO[bytes], files: Mapping[str, bytes]) -> None:
    sizes = {name: len(content) for name, content in files.items()}
    pipe.write(json.dumps(sizes).encode() + b"\n")
    for content in files.values():
        pipe.write(content)
    pipe.flush()


def receive(pipe: IO[bytes]) -> Files:
    """What was sent; EOFError where the other end is gone."""
    head = pipe.readline()
    if not head.endswith(b"\n"):
        raise EOFError
    sizes = json.loads(head)
    files = {name: pipe.read(size) for name, size in sizes.items()}
    if any(len(content) < sizes[name] for name, content in files.items()):
        raise EOFError
    return files
