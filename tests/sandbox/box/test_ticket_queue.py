"""The order of processes in the queue, told from locks on a file."""

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gradebox.sandbox.box import ticket_queue
from gradebox.sandbox.box.ticket_queue import TicketQueue

Make = Callable[[], TicketQueue]
MS = 1_000_000
LATER = 1 << 60


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[TicketQueue] = []
    path = tmp_path / "queue"
    path.touch()

    def one() -> TicketQueue:
        made.append(TicketQueue(os.open(path, os.O_RDONLY)))
        return made[-1]

    yield one
    for queue in made:
        queue.close()


def test_tickets_are_in_the_order_of_their_times(make):
    queues = [make() for _ in range(6)]
    bystander = make()
    assert bystander.first() is None and not bystander.others_wait()
    for queue, at in zip(queues, (30, 10, 50, 20, 60, 40), strict=True):
        queue.join(LATER + at * MS)
    for left in (6, 5, 4, 3, 2, 1):
        assert bystander.others_wait() and bystander.count_others() == left
        first = bystander.first()
        assert {queue.first() for queue in queues if queue.ticket} == {first}
        by_ticket = {queue.ticket: queue for queue in queues if queue.ticket}
        assert first == min(by_ticket)
        assert by_ticket[first].count_others() == left - 1
        by_ticket[first].leave()
    assert bystander.first() is None


def test_a_ticket_is_not_for_an_earlier_time_than_now(make):
    queue = make()
    queue.join(1)
    assert queue.ticket > time.monotonic_ns() - 60_000 * MS


def test_who_is_first_is_woken(make):
    waiting, later, waker = make(), make(), make()
    waiting.join(LATER)
    later.join(LATER + MS)
    waker.wake_first()
    waiting.wait(1000.0)  # returns, although it has begun after the wake-up
    thread = threading.Thread(target=waiting.wait, args=(1000.0,), daemon=True)
    thread.start()
    waker.wake_first()
    thread.join(150)
    assert not thread.is_alive()


def test_wake_ups_for_an_earlier_ticket_are_dropped(make):
    waiting, waker = make(), make()
    waiting.join()
    for _ in range(100):  # more than the kernel keeps
        waker.wake_first()
    waiting.leave()
    waiting.join()
    with pytest.raises(BlockingIOError):
        waiting._receiver.recv(1)


def test_the_ticket_of_a_closed_file_is_gone(make):
    """As when its process ends."""
    dead, other = make(), make()
    dead.join()
    assert other.others_wait()
    dead.close()
    assert not other.others_wait()


def test_who_is_passed_over_is_not_first_for_a_while(make, monkeypatch):
    monkeypatch.setattr(ticket_queue, "PASSED_OVER_NS", LATER)
    stopped, one, other = make(), make(), make()
    for i, queue in enumerate((stopped, one, other)):
        queue.join(LATER + i * MS)
    one.pass_over(stopped.ticket)
    assert one.first() == one.ticket and one.count_others() == 1
    assert stopped.first() == other.first() == stopped.ticket
    monkeypatch.setattr(ticket_queue, "PASSED_OVER_NS", -1)
    one.pass_over(stopped.ticket)
    assert one.first() == stopped.ticket and one.count_others() == 2


def test_thousands_of_tickets_of_one_process_stop_nobody(make, monkeypatch):
    monkeypatch.setattr(ticket_queue, "PASSED_OVER_NS", LATER)
    flood, one = make(), make()
    for number in range(3000):
        flood._lock(fcntl.F_RDLCK, 1000 + 2 * number)
    assert one.count_others() == ticket_queue.MOST_TICKETS
    one.join()
    assert one.first() == 1000
    one.pass_over(1000 + 2 * 2999)
    assert one.first() == one.ticket and one.count_others() == 0


def test_who_takes_tickets_backwards_is_not_looked_at_for_ever(make, monkeypatch):
    monkeypatch.setattr(ticket_queue, "MOST_TICKETS", 8)
    one, asked = make(), []
    one.join()
    monkeypatch.setattr(one, "_any_other", lambda start, end=0: asked.append(end) or end - 1)
    assert (one.first(), len(asked)) == (one.ticket - 8, 8)


def test_without_sockets_waiting_is_short(make, monkeypatch):
    monkeypatch.setattr(ticket_queue, "_BIND_TRIES", 0)
    blind, other = make(), make()
    blind.join()
    other.wake_first()
    blind.wait(1000.0)
    assert other.first() == blind.ticket
