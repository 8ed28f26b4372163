"""Tasks of lm-evaluation-harness whose programs run in our sandbox: the YAML files of this folder.

    lm_eval --include_path "$(python -m gradebox.lm_eval)" --tasks gradebox_humaneval …

Their prompts, stops and metric names are those of the harness's own tasks, so that figures compare.
"""
