"""What a metric can see: a benchmark of metrics.

Its items are texts with one edit each (`edits.Edit`), in one JSONL file a benchmark. A metric is good where harmless
edits of a text score above harmful ones: `evaluate` gives the probability, and 0.5 is blind.

A new metric is one file in `beyondqa/metrics`: with INPUT "answers" and `values(pairs, settings, threads=1)` (see that
package) it is scored on the edits by itself once the config names it. INPUT "likelihoods" and "relaxed" are scored with
the edited references as targets of the models under `sensitivity.models`.
"""

from .edits import Edit, read_edits
from .preferences import evaluate

__all__ = ["Edit", "evaluate", "read_edits"]
