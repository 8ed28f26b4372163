"""Helpers for every package: cores, caches, queues, files, exit statuses."""
