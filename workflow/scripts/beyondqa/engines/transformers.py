"""Models run by transformers, on a CPU by default: log-likelihoods by token trees, generation by a loop of its own.

Log-likelihoods: continuations of one trunk (a prompt, or a prompt and a completion) are branches of one row
(`_trees`), so the trunk is computed once, and completions of one prompt share its keys and values; logits are
computed at scored positions only. A text longer than the
context is read in windows (`_tokens.windows`).
Generation: left-padded rows, equal prompts computed once, one uniform number a row and token from the row's own
seed. The end token and tokens of a stop string count as generated tokens and in the log-probability.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import logging
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import StudyError
from ..items import Generation
from ._local import LocalEngine
from ._sampling import sample, uniforms
from ._tokens import Ids, likelihood_answer, spans
from ._trees import Tree
from .base import Answer, BranchRequest, Engine, GenerationRequest, LikelihoodRequest, Prepared

SEMANTICS = 1
ENVIRONMENT = "engine-transformers"
THREADS = 1

# Logits of one batch stay below this many rows of the vocabulary's width.
SCORED_POSITIONS = 1024
# Rows of a batch differ in length by at most this factor: padding costs as much as tokens do.
FILLED = 0.9
# A tree's branches hold at most this many times its trunk: beyond, attention costs more than sharing saves.
BRANCHES_PER_TRUNK = 4
# Rows of logits turned into log-probabilities at once.
_CHUNK = 128

log = logging.getLogger("beyondqa")


def load(entry: Mapping[str, Any]) -> Engine:
    """The engine of a model entry with `name` and `directory`; optional: `dtype`, `context`, `batch_tokens`,
    `threads`, `trust_remote_code`, and `id` with `revision`, which then stand for the directory's bytes in the keys.
    """
    return TransformersEngine(entry)


class TransformersEngine(LocalEngine):
    name = "transformers"
    SEMANTICS = SEMANTICS
    packages = ("torch", "transformers", "tokenizers")

    @functools.cached_property
    def _model(self) -> Any:
        import torch
        from transformers import AutoModelForCausalLM

        if "threads" in self.entry:
            torch.set_num_threads(self.entry["threads"])
        model = AutoModelForCausalLM.from_pretrained(self.directory, dtype=getattr(torch, self.dtype), **self.loading)
        return model.to("cuda" if torch.cuda.is_available() else "cpu").eval()

    def plan(self, prepared: Sequence[Prepared]) -> list[list[Prepared]]:
        """Batches, the longest first; each kind of request apart, equal trunks together."""
        kinds = {
            kind: [p for p in prepared if isinstance(p.request, kind)]
            for kind in (LikelihoodRequest, BranchRequest, GenerationRequest)
        }
        return [
            *self._plan_likelihoods(kinds[LikelihoodRequest]),
            *self._plan_likelihoods(kinds[BranchRequest]),
            *self._plan_generations(kinds[GenerationRequest]),
        ]

    def _plan_likelihoods(self, prepared: list[Prepared]) -> list[list[Prepared]]:
        ordered = sorted(prepared, key=lambda p: (_trunk(p), len(p.continuation_ids), p.continuation_ids, p.key))
        by_trunk = itertools.groupby(ordered, key=_trunk)
        groups = [group for _, same_trunk in by_trunk for group in _shareable(same_trunk)]
        sized = []
        for group in groups:
            trees = self._rows(group)
            longest, before = max(map(len, trees)), trees[0].before
            scored = sum(len(target) for tree in trees for target in tree.targets)
            # Trees that share what is read beforehand stay together, and equally long ones.
            sized.append(((-len(before), before, -longest), (len(trees), longest, scored), group))
        sized.sort(key=lambda entry: entry[0])
        batches: list[list[Prepared]] = []
        rows = longest = positions = 0
        for _, (its_rows, its_longest, its_positions), group in sized:
            tokens = (rows + its_rows) * max(longest, its_longest)
            fits = tokens <= self.batch_tokens and positions + its_positions <= SCORED_POSITIONS
            filled = min(longest, its_longest) >= FILLED * max(longest, its_longest)
            if batches and fits and filled:
                batches[-1] += group
                rows, longest, positions = rows + its_rows, max(longest, its_longest), positions + its_positions
            else:
                batches.append(list(group))
                rows, longest, positions = its_rows, its_longest, its_positions
        return batches

    def _plan_generations(self, prepared: list[Prepared]) -> list[list[Prepared]]:
        def order(p: Prepared) -> tuple:
            limit = p.request.max_new_tokens
            return -(len(p.prompt_ids) + limit), -limit, p.prompt_ids, p.key

        batches: list[list[Prepared]] = []
        longest = 0
        for p in sorted(prepared, key=order):
            # Rows come longest first, so the first of a batch bounds its rows' prompts with their answers.
            longest = longest or len(p.prompt_ids) + p.request.max_new_tokens
            if batches and (len(batches[-1]) + 1) * longest <= self.batch_tokens:
                batches[-1].append(p)
            else:
                batches.append([p])
                longest = len(p.prompt_ids) + p.request.max_new_tokens
        return batches

    def answer(self, batch: Sequence[Prepared]) -> list[Answer]:
        """Answers in the batch's order. Raises StudyError where a single request exceeds the memory."""
        work = self._generate if isinstance(batch[0].request, GenerationRequest) else self._score
        return _halving(work, list(batch))

    # Log-likelihoods

    def _rows(self, batch: Sequence[Prepared], sharing: bool = True) -> list[Tree]:
        """Trees of the batch, spans in its order: requests with one trunk share one where that pays, and every
        window of a long text has its own.
        """
        rows: list[Tree] = []
        for _, same_trunk in itertools.groupby(batch, key=_trunk):
            for group in _shareable(same_trunk):
                tree: Tree | None = None
                for p in group:
                    its_spans = spans(p, self.context)
                    windowed = isinstance(p.request, LikelihoodRequest) and len(its_spans) > 1
                    for span in its_spans:
                        if tree is None or windowed or not sharing:
                            # The prompt's last token stays, since what follows it may be scored.
                            branching = sharing and isinstance(p.request, BranchRequest)
                            tree = Tree(before=p.prompt_ids[:-1] if branching else ())
                            rows.append(tree)
                        tree.add(*span)
                    tree = None if windowed else tree
        return rows

    def _score(self, batch: list[Prepared]) -> list[Answer]:
        """One padded forward pass over the batch's trees, after one over what they share beforehand."""
        scores = iter(self._score_rows(self._rows(batch, sharing=self._sees_branches)))
        answers: list[Answer] = []
        for p in batch:
            values, greedy = zip(*(next(scores) for _ in spans(p, self.context)), strict=True)
            answers.append(likelihood_answer(p, self.model, values, greedy))
        return answers

    def _score_rows(self, rows: list[Tree]) -> list[tuple[list[float], bool]]:
        """Log-probabilities of each continuation's tokens, and whether all were the most probable ones; row by row."""
        import torch

        width = max(map(len, rows))
        ids = np.zeros((len(rows), width), dtype=np.int64)
        for row, tree in zip(ids, rows, strict=True):
            row[: len(tree)] = tree.tokens
        inputs: dict[str, Any] = {"input_ids": torch.from_numpy(ids), "use_cache": False}
        if not all(tree.is_chain for tree in rows):
            inputs |= self._branched(rows, width)
        places = [(r, node) for r, tree in enumerate(rows) for path in tree.paths for node in path]
        logits = self._logits(places, **inputs).logits
        targets = torch.tensor([t for tree in rows for target in tree.targets for t in target], device=logits.device)
        values, greedy = [], []
        for part, wanted in zip(logits.split(_CHUNK), targets.split(_CHUNK), strict=True):
            log_probabilities = part.float().log_softmax(dim=-1)
            values += log_probabilities.gather(1, wanted[:, None])[:, 0].tolist()
            greedy += (log_probabilities.argmax(dim=-1) == wanted).tolist()
        pairs = iter(zip(values, greedy, strict=True))
        scores = []
        for tree in rows:
            for target in tree.targets:
                tokens, hits = zip(*itertools.islice(pairs, len(target)), strict=True)
                scores.append((list(tokens), all(hits)))
        return scores

    def _branched(self, rows: list[Tree], width: int) -> dict[str, Any]:
        """Inputs that make trees of rows: an additive attention mask, shape (rows, 1, width, read before + width),
        position ids, shape (rows, width), and the keys and values of what was read before.
        """
        import torch

        heads = sorted({tree.before for tree in rows})
        read = max(map(len, heads))
        visible = np.zeros((len(rows), width, read + width), dtype=bool)
        positions = np.zeros((len(rows), width), dtype=np.int64)
        visible[:, :, read:] = np.eye(width, dtype=bool)
        for i, tree in enumerate(rows):
            visible[i, : len(tree), : len(tree.before)] = True
            visible[i, : len(tree), read : read + len(tree)] = tree.visible()
            positions[i, : len(tree)] = tree.depths()
        dtype = self._model.dtype
        mask = torch.zeros(visible.shape, dtype=dtype).masked_fill_(~torch.from_numpy(visible), torch.finfo(dtype).min)
        inputs = {"attention_mask": mask[:, None], "position_ids": torch.from_numpy(positions)}
        if not read:
            return inputs
        ids = torch.zeros((len(heads), read), dtype=torch.long)
        for row, head in zip(ids, heads, strict=True):
            row[: len(head)] = torch.tensor(head)
        cache = self._logits([], input_ids=ids, use_cache=True).cache
        cache.batch_select_indices(torch.tensor([heads.index(tree.before) for tree in rows], device=self._model.device))
        return {**inputs, "cache": cache, "use_cache": True}

    @functools.cached_property
    def _sees_branches(self) -> bool:
        """Whether the model obeys the attention mask of a tree; tried once, on a tree against its own paths.

        A model that reads windows of attention does so only where the window spans the whole context.
        """
        config = self._model.config.get_text_config()
        window = getattr(config, "sliding_window", None)
        if window and window < self.context:
            return False
        ids = np.random.default_rng(0).integers(config.vocab_size, size=24).tolist()
        branches = [(ids[:8], ids[8:16]), (ids[:8], ids[16:])]
        tree, chains = Tree(before=tuple(ids[:5])), [Tree(), Tree()]
        for chain, (prompt, continuation) in zip(chains, branches, strict=True):
            chain.add(prompt, continuation)
            tree.add(prompt, continuation)
        try:
            together, apart = self._score_rows([tree]), self._score_rows(chains)
        except (IndexError, RuntimeError, TypeError, ValueError) as error:
            log.warning("%s takes no attention mask of a tree (%s): options are scored one by one", self.model, error)
            return False
        gaps = np.abs(np.array([t for t, _ in together]) - np.array([t for t, _ in apart]))
        obeyed = bool(gaps.max() < (1e-3 if self.dtype == "float32" else 0.2))
        if not obeyed:
            log.warning("%s disobeys the attention mask of a tree: options are scored one by one", self.model)
        return obeyed

    def _logits(self, places: Sequence[tuple[int, int]], **inputs: Any) -> Any:
        """The model's output with logits at (row, column) `places` alone; logits of shape (places, vocabulary)."""
        import torch

        rows, columns = torch.tensor(places, dtype=torch.long, device=self._model.device).reshape(-1, 2).T
        inputs = {k: v.to(self._model.device) if torch.is_tensor(v) else v for k, v in inputs.items()}
        # On the way into the head, so that whatever the model does to its logits afterwards is done.
        head = self._model.get_output_embeddings()
        hook = head.register_forward_pre_hook(lambda module, arguments: (arguments[0][rows, columns],))
        try:
            with torch.inference_mode():
                return self._model(**inputs)
        finally:
            hook.remove()

    # Generation

    @functools.cached_property
    def _end_tokens(self) -> list[int]:
        ends = self._model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        return sorted({token for token in [*ends, self.tokenizer.eos_token_id] if token is not None})

    def _generate(self, batch: list[Prepared]) -> list[Generation]:
        """One left-padded batch; rows leave it as they finish."""
        import torch

        prompts = sorted({p.prompt_ids for p in batch})
        width = max(map(len, prompts))
        ids = torch.zeros((len(prompts), width), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for i, prompt in enumerate(prompts):
            ids[i, width - len(prompt) :] = torch.tensor(prompt)
            mask[i, width - len(prompt) :] = 1
        output = self._logits(
            [(i, width - 1) for i in range(len(prompts))],
            input_ids=ids,
            attention_mask=mask,
            position_ids=(mask.cumsum(1) - 1).clamp(min=0),
            use_cache=True,
        )
        cache, logits = output.cache, output.logits
        answers = [_Answer(p) for p in batch]
        running = answers
        select = [prompts.index(a.prepared.prompt_ids) for a in running]
        while True:
            if select != list(range(len(logits))):
                cache.batch_select_indices(torch.tensor(select, device=logits.device))
                logits, mask = logits[select], mask[select]
            tokens = self._choose(running, logits)
            select = [i for i, answer in enumerate(running) if not self._finished(answer)]
            running = [running[i] for i in select]
            if not running:
                return [self._generation(answer) for answer in answers]
            if len(select) < len(tokens):
                cache.batch_select_indices(torch.tensor(select, device=logits.device))
                mask, tokens = mask[select], [tokens[i] for i in select]
            mask = torch.cat([mask, mask.new_ones(len(mask), 1)], dim=1)
            output = self._logits(
                [(i, 0) for i in range(len(running))],
                input_ids=torch.tensor(tokens)[:, None],
                attention_mask=mask,
                position_ids=mask.sum(1, keepdim=True) - 1,
                cache=cache,
                use_cache=True,
            )
            logits, select = output.logits, list(range(len(running)))

    def _choose(self, running: list[_Answer], logits: Any) -> list[int]:
        """The next token of each row, noted in it with its raw log-probability."""
        raw = logits.float()
        log_probabilities = raw.log_softmax(dim=-1)
        tokens = []
        for i, answer in enumerate(running):
            request, row = answer.prepared.request, raw[i]
            if request.suppress_end:
                row = row.index_fill(0, row.new_tensor(self._end_tokens).long(), -math.inf)
            if request.temperature > 0:
                uniform = answer.draws[len(answer.tokens)]
                token = sample(row, request.temperature, request.top_p, uniform)
            else:
                token = int(row.argmax())
            answer.tokens.append(token)
            answer.log_probabilities.append(float(log_probabilities[i, token]))
            if request.keep_tokens:
                best, best_tokens = log_probabilities[i].topk(2)
                other = best[1] if int(best_tokens[0]) == token else best[0]
                answer.margins.append(float(log_probabilities[i, token] - other))
            tokens.append(token)
        return tokens

    def _finished(self, answer: _Answer) -> bool:
        request = answer.prepared.request
        if any(stop in self.text(answer.tokens) for stop in request.stop) or answer.tokens[-1] in self._end_tokens:
            answer.finish_reason = "stop"
        elif len(answer.tokens) == request.max_new_tokens:
            answer.finish_reason = "length"
        return bool(answer.finish_reason)

    def _generation(self, answer: _Answer) -> Generation:
        p = answer.prepared
        return Generation(
            item_id=p.request.item_id,
            benchmark=p.request.benchmark,
            model=p.request.model or self.model,
            variant=p.request.variant,
            index=p.request.index,
            text=self.text(answer.tokens, p.request.stop),
            finish_reason=answer.finish_reason,
            prompt_tokens=len(p.prompt_ids),
            prompt_tokens_cut=p.prompt_tokens_cut,
            generated_tokens=len(answer.tokens),
            log_probability=math.fsum(answer.log_probabilities),
            key=p.key,
            token_ids=tuple(answer.tokens) if p.request.keep_tokens else (),
            token_log_probabilities=tuple(answer.log_probabilities) if p.request.keep_tokens else (),
            token_margins=tuple(answer.margins),
        )


@dataclass
class _Answer:
    """A row of a generation batch on its way."""

    prepared: Prepared
    tokens: list[int] = field(default_factory=list)
    log_probabilities: list[float] = field(default_factory=list)
    margins: list[float] = field(default_factory=list)
    finish_reason: str = ""

    @functools.cached_property
    def draws(self) -> np.ndarray:
        return uniforms(self.prepared.request.seed, self.prepared.request.max_new_tokens)


def _trunk(p: Prepared) -> Ids:
    """What the request's continuations have in common, or grow along."""
    request = p.request
    return p.prompt_ids + request.completion if isinstance(request, BranchRequest) else p.prompt_ids


def _shareable(requests: Iterator[Prepared]) -> Iterator[list[Prepared]]:
    """Requests with one trunk in groups, each small enough for one tree."""
    group: list[Prepared] = []
    tokens = 0
    for p in requests:
        branches = len(p.request.positions) if isinstance(p.request, BranchRequest) else 1
        its_tokens = branches * (len(p.continuation_ids) - 1)
        if group and tokens + its_tokens > BRANCHES_PER_TRUNK * len(_trunk(p)):
            yield group
            group, tokens = [], 0
        group.append(p)
        tokens += its_tokens
    if group:
        yield group


def _halving(work: Callable[[list[Prepared]], list[Any]], batch: list[Prepared]) -> list[Any]:
    """What `work` makes of the batch; out of memory, of its halves, down to single requests."""
    with contextlib.suppress(_OutOfMemory), _memory_errors():
        return work(batch)
    if len(batch) == 1:
        raise StudyError(
            f"out of memory with {len(batch[0].prompt_ids)} prompt tokens, alone in its batch",
            record=batch[0].request.item_id,
            remedy="Give the job more memory, or lower the model's context",
        )
    log.warning("out of memory with %d requests: going on with half as many", len(batch))
    middle = len(batch) // 2
    return _halving(work, batch[:middle]) + _halving(work, batch[middle:])


class _OutOfMemory(Exception):
    pass


@contextlib.contextmanager
def _memory_errors() -> Iterator[None]:
    import torch

    try:
        yield
    except (MemoryError, torch.OutOfMemoryError) as error:
        raise _OutOfMemory from error
    except RuntimeError as error:
        # What the CPU allocator raises.
        if "can't allocate memory" in str(error) or "not enough memory" in str(error):
            raise _OutOfMemory from error
        raise
