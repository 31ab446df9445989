"""A linter that finds the ways a service dies of waiting: waits, queues, retries and routes without a bound."""

__version__ = "0.1.0"
