"""Ask model servers many questions and keep their answers.

    Request… ──Sampler(concurrency, rate, retries)──▶ RequestOutcome… ──ResponseFile──▶ JSONL
                    │
                    ├─ OpenAIChat, OpenAICompletions   vLLM, SGLang and other compatible servers
                    ├─ openrouter_server               OpenRouter with pinned providers
                    └─ LocalContract                   POST {dataset, prompt, sample_id} → answer

A failed request is a RequestOutcome with a failure. It is never recorded as an answer and never
counted as wrong.
"""

from gradebox.eval.models.exchange import (
    CallError,
    ModelReply,
    Request,
    RequestOutcome,
    RetryPolicy,
)
from gradebox.eval.models.sampler import Sampler, SamplerOptions

__all__ = [
    "CallError",
    "ModelReply",
    "Request",
    "RequestOutcome",
    "RetryPolicy",
    "Sampler",
    "SamplerOptions",
]
