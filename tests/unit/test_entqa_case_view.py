"""Case views: what is marked, where lines break, and that nothing of an answer runs as code."""

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beyondqa.entqa.case_view import Run, page, recall, runs, telling, wrapped

TEXT = "A dry cough and fever"
SIDE = {
    "text": TEXT,
    "covered": {"dry cough": "cough"},
    "missing": ["cough and fever", "chill"],
    "spans": {"dry cough": [[2, 11]], "cough and fever": [[6, 21]], "chill": []},
}
ATTACK = '<script>alert(1)</script> & "quoted" <img src=x onerror=alert(1)>'


def detail(model="m", item="i", covered=("dry cough",), text=TEXT):
    missing = [e for e in ("dry cough", "cough and fever") if e not in covered]
    spans = {"dry cough": [[2, 11]], "cough and fever": [[6, 21]]}
    side = {"text": text, "covered": dict.fromkeys(covered, "x"), "missing": missing, "spans": spans}
    sides = {"background": side, "question": side, "explanation": {**side, "covered": list(covered)}}
    return {"item_id": item, "model": model, "gold": "A", "letter": "A", "problem": "", "variants": {"v": sides}}


def test_runs():
    """The covered entity wins where two overlap."""
    assert runs(SIDE) == [Run("A ", "plain"), Run("dry cough", "covered"), Run(" and fever", "missing")]
    assert recall(SIDE) == 1 / 3
    assert recall({"covered": {}, "missing": []}) is None


@given(st.text(alphabet="ab \n", max_size=40), st.integers(1, 12), st.randoms())
def test_wrapping_loses_no_word_and_fits(text, width, random):
    pieces, start = [], 0
    while start < len(text):
        end = start + random.randint(1, 5)
        pieces.append(Run(text[start:end], random.choice(["plain", "covered", "missing"])))
        start = end
    lines = wrapped(pieces, width)
    assert all(sum(len(run.text) for run in line) <= width for line in lines)
    joined = "".join(run.text for line in lines for run in line).replace(" ", "")
    assert joined == "".join(text.split())


def test_wrapping_breaks_at_blanks():
    lines = wrapped([Run("a dry ", "plain"), Run("cough today", "covered")], 11)
    assert lines == [[Run("a dry ", "plain"), Run("cough", "covered")], [Run("today", "covered")]]


def test_the_most_telling_case_comes_first():
    same = [detail(model, "same") for model in "ab"]
    differs = [detail("a", "differs"), detail("b", "differs", covered=())]
    chosen = telling(lambda: [*same, *differs], "v", count=1)
    assert [answers[0]["item_id"] for answers in chosen] == ["differs"]
    assert [len(answers) for answers in telling(lambda: [*same, *differs], "v")] == [2, 2]


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data):
        self.text += data


@pytest.mark.parametrize("field", ["text", "model", "item_id", "problem", "letter", "title"])
def test_what_models_write_is_text(field):
    answer = detail(text=ATTACK if field == "text" else TEXT)
    title = ATTACK if field == "title" else "title"
    if field not in ("text", "title"):
        answer[field] = ATTACK
    parser = Tags()
    parser.feed(page([[answer]], "v", title))
    assert "script" not in parser.tags
    assert "img" not in parser.tags
    assert not any(name.startswith("on") for name in parser.attributes)
    assert "alert(1)" in "".join(parser.text.split())


def test_the_page_loads_nothing_and_marks_entities():
    html = page([[detail()]], "v", "title")
    assert "default-src 'none'" in html
    assert "http://" not in html
    assert "https://" not in html
    assert '<mark class="covered">dry cough</mark><mark class="missing"> and fever</mark>' in html
