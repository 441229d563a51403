"""Data and models that several test files share."""
