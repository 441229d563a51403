"""A cost model of fits on workers: what a step takes with other numbers of workers and positions.

A step on W workers and P positions takes

    per_position * P / W  +  exchanges * (latency + per_message * (W - 2))  +  per_byte * bytes

seconds. `bytes` are what a worker sends: the sums of the attributes that its positions have, without the slice that it
adds up itself. They grow with the positions of a worker to a power below 1, because the same attributes come again.
Every exchange sends a message to every other worker: this is what ends the scaling.
"""

from __future__ import annotations

from typing import NamedTuple


class Costs(NamedTuple):
    """Constants of a machine and an estimator; seconds and bytes are those of one step."""

    per_position: float  # CPU seconds
    exchanges: float
    latency: float  # seconds of an exchange between two workers
    per_message: float  # more seconds for each further worker
    per_byte: float
    bytes_at: float  # sent by each of two workers
    positions_at: float  # positions of each of these
    growth: float  # bytes are proportional to the positions of a worker to this power

    def bytes(self, n_positions: float, n_workers: int) -> float:
        """What a worker sends in a step."""
        own = float((n_positions / n_workers / self.positions_at) ** self.growth)
        return self.bytes_at * 2 * own * (n_workers - 1) / n_workers

    def step(self, n_positions: float, n_workers: int, n_cores: int | None = None) -> float:
        """Seconds of a step; with n_cores, if all workers share one machine with so many."""
        shared = 1.0 if n_cores is None else max(1.0, n_workers / n_cores)
        compute = self.per_position * n_positions / n_workers
        if n_workers == 1:
            return compute
        messages = self.exchanges * (self.latency + self.per_message * (n_workers - 2))
        return (compute + self.per_byte * self.bytes(n_positions, n_workers)) * shared + messages

    def cells(self) -> list[str]:
        """The constants, for a table."""
        return [
            f"{1e6 * self.per_position:.2f}", f"{self.exchanges:.0f}", f"{1e3 * self.latency:.2f}",
            f"{1e3 * self.per_message:.2f}", f"{self.bytes_at / 1e6:.1f}", f"{1e9 * self.per_byte:.1f}",
            f"{self.growth:.2f}",
        ]  # fmt: skip
