"""Results of a run: records, their folder and keys, the cache, metrics and statistics."""
