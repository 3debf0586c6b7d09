"""The one exception that a user is meant to read."""


class StudyError(Exception):
    """Bad input, told in one sentence that names the file, the record and the remedy."""

    def __init__(self, problem: str, *, file: object = None, record: object = None, remedy: str = ""):
        where = ", ".join(
            part for part in (f"file {file}" if file else "", f"record {record}" if record is not None else "") if part
        )
        message = f"{where}: {problem}" if where else problem
        super().__init__(f"{message}. {remedy}" if remedy else message)
