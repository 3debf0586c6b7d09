"""Put requests to engines in a process of its own, under the interpreter whose packages the engines need.

`python ask_engine.py questions.pickle answers.pickle`, with the library on the path. The questions are a list of (model
entry, rounds); a round is a list of requests. The answers are in the same shape and order.
"""

import pickle
import sys
from pathlib import Path

from beyondqa import engines


def ask(engine, requests):
    """The engine's answers in the order of the requests."""
    prepared = engine.prepare(requests)
    by_key = {answer.key: answer for batch in engine.plan(prepared) for answer in engine.answer(batch)}
    return [by_key[p.key] for p in prepared]


def ask_rounds(entry, rounds):
    """Answers round by round; the model is loaded once and let go at the end."""
    engine = engines.load(entry)
    return [ask(engine, requests) for requests in rounds]


if __name__ == "__main__":
    questions_file, answers_file = map(Path, sys.argv[1:])
    answers_file.write_bytes(pickle.dumps([ask_rounds(*asked) for asked in pickle.loads(questions_file.read_bytes())]))
