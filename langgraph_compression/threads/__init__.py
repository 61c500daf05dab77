"""One thread at a time: gates, compress now, status."""
