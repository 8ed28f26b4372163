"""Asking model servers for answers: one client for three kinds of server.

    Request… ──Sampler(concurrency, rate, retries)──▶ Outcome… ──ResponseFile──▶ JSONL
                    │
                    ├─ OpenAIChat, OpenAICompletions   vLLM, SGLang and every other of the kind
                    ├─ OpenRouter                      pinned providers
                    └─ LocalContract                   POST {dataset, prompt, sample_id} → answer

A failed request is an Outcome with a failure: it is never an answer and never wrong.
"""

from eval.sampling.errors import CallError, ServerLost
from eval.sampling.model import Outcome, Reply, Request
from eval.sampling.retry import RetryPolicy
from eval.sampling.sampler import Sampler, SamplerOptions

__all__ = [
    "CallError",
    "Outcome",
    "Reply",
    "Request",
    "RetryPolicy",
    "Sampler",
    "SamplerOptions",
    "ServerLost",
]
