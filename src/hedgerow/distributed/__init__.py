"""Fits, predictions and model selection over the workers of a Dask cluster. Dask is imported when it is needed."""

from hedgerow.distributed.frames import FrameLabels, FrameSequences, from_frame

__all__ = ["FrameLabels", "FrameSequences", "from_frame"]
