"""Worker processes that compare answers under limits."""
