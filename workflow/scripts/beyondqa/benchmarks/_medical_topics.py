"""The five topics of the medical abstracts corpus."""

from .base import Row, text, whole_number

TOPICS = (
    "neoplasms",
    "digestive system diseases",
    "nervous system diseases",
    "cardiovascular diseases",
    "general pathological conditions",
)


def topic_fields(row: Row, text_column: str, class_column: str) -> dict:
    """An item of a text and the number of its topic, counted from 1."""
    gold = whole_number(row, class_column) - 1
    return {
        "question": "Which topic is the text about?",
        "context": text(row, text_column),
        "options": TOPICS,
        "candidates": tuple(f" {topic}" for topic in TOPICS),
        "gold": gold,
        "metadata": {"topic": TOPICS[gold] if 0 <= gold < len(TOPICS) else None},
    }
