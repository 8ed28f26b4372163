"""The metrics of GET /metrics, in Prometheus' text format."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from gradebox.sandbox.server.admission import Admission

_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100)


class Metrics:
    """Counters of one server, in a registry of its own so that two servers never mix."""

    content_type = "text/plain; version=0.0.4; charset=utf-8"

    def __init__(self, admission: Admission) -> None:
        self.registry = CollectorRegistry()
        self.executions = Counter(
            "gradebox_executions",
            "Programs run, by language and status (OK, RE, TO, OL, EL, CE)",
            ["language", "status"],
            registry=self.registry,
        )
        self.answers = Counter(
            "gradebox_http_answers", "Answers by HTTP status", ["status"], registry=self.registry
        )
        self.seconds = Histogram(
            "gradebox_execute_seconds",
            "Seconds from a request's admission to its answer",
            buckets=_SECONDS,
            registry=self.registry,
        )
        present = Gauge("gradebox_requests_present", "Requests admitted", registry=self.registry)
        present.set_function(lambda: admission.present)
        running = Gauge("gradebox_requests_running", "Requests running", registry=self.registry)
        running.set_function(lambda: admission.running)

    def count(self, language: str, status: str | None) -> None:
        """Count one execution; None: it ended with code 0."""
        self.executions.labels(language, status or "OK").inc()

    def text(self) -> bytes:
        return generate_latest(self.registry)
