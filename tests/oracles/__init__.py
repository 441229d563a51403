"""The slow, obvious version of every fast kernel."""
