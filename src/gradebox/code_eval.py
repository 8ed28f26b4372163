"""The metric code_eval of Hugging Face's evaluate; see `gradebox.eval.frameworks.code_eval`."""

from gradebox.eval.frameworks.code_eval import compute

__all__ = ["compute"]
