"""At the end of a failed run: which jobs failed, why, where their logs are, what to do."""

from beyondqa.failures import summary as failure_summary


onerror:
    print(f"\n{failure_summary(log[0])}", file=sys.stderr)
