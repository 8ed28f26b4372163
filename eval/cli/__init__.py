"""The command line: flags, exit statuses, progress, the summary table."""
