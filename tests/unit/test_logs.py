"""A job's log."""

import logging.config

from beyondqa.logs import to_file


def test_a_library_that_configures_logging_does_not_silence_the_log(tmp_path):
    path = tmp_path / "logs" / "job.log"
    with to_file(path) as log:
        log.info("before")
        logging.config.dictConfig({"version": 1, "disable_existing_loggers": False})
        log.info("after")
    lines = path.read_text().splitlines()
    assert [line.rsplit(" ", 1)[1] for line in lines] == ["before", "after"]


def test_a_log_holds_one_run(tmp_path):
    path = tmp_path / "job.log"
    for word in ("first", "second"):
        with to_file(path) as log:
            log.info(word)
    assert path.read_text().endswith("INFO second\n")
    assert path.read_text().count("\n") == 1
