"""The passes of `encode` over a source, each of which continues where an interrupted call stopped.

The first pass reads the source once: it writes the raw sequences to the disk and counts values. If the template has
pairs of columns, the second collects the pairs. The last writes the codes. Files that the first two passes write are
whole or not there; the last pass appends to files, and `progress.json` says how far they are complete.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import numpy as np

from hedgerow import storage
from hedgerow.corpora.column_files import ColumnFiles, dtypes_of
from hedgerow.corpora.counting import CodeCounts, Learned
from hedgerow.corpora.pair_files import is_intact, read_pairs, write_pairs
from hedgerow.corpora.records import Progress
from hedgerow.corpora.source_blocks import BlockSource, RawBlock
from hedgerow.corpora.space import naming_space
from hedgerow.corpora.spool import checksums_of, read_shard, write_shard
from hedgerow.corpora.state import PROGRESS, Settings, State
from hedgerow.data.alphabet import Values
from hedgerow.data.sequences import Sequences
from hedgerow.encoding.column_spec import ColumnSpec
from hedgerow.encoding.corpus_folder import CorpusFolder, file_of, write_encoder
from hedgerow.encoding.corpus_index import ENCODER, INDEX, CorpusIndex, Shard
from hedgerow.encoding.encoded import Encoded
from hedgerow.encoding.encoder import Encoder
from hedgerow.encoding.encoder_draft import EncoderDraft
from hedgerow.encoding.encoder_statistics import EncoderStatistics
from hedgerow.encoding.gold_labels import DTYPES
from hedgerow.encoding.imputation import FillBag
from hedgerow.encoding.pair_statistics import merge_pairs, pair_groups
from hedgerow.errors import CorpusError, InputError, ModelFileError
from hedgerow.estimators.missing_report import warn_of_columns

RAW, PAIRS = "raw", "pairs"  # beginnings of names of files


class EncodingJob:
    """One call of `encode`; `run` returns when the folder is complete."""

    def __init__(self, source: BlockSource, folder: Path, settings: Settings, progress: Progress) -> None:
        self._source = source
        self._folder = folder  # the partial one
        self._settings = settings
        self._progress = progress
        self._began = time.perf_counter()
        self._state = State(settings.to_json(), source.files)
        self._optional = False

    def run(self) -> None:
        """Do what an interrupted call has left to do."""
        self._resume()
        learned = self._read()
        statistics = learned.statistics
        self._optional = bool(statistics is not None and statistics.optional)
        draft = None
        if statistics is not None:
            warn_of_columns([column.name for column in statistics.placed() if column.n_missing and column.is_valueless])
            recipe = self._settings.recipe
            draft = statistics.draft(
                self._settings.features, recipe.missing, min_freq=recipe.min_freq, n_threads=self._settings.n_threads
            )
        encoder = self._settings.like or self._encoder(draft, learned)
        files = self._write_codes(encoder, draft, learned)
        self._finish(encoder, draft, learned, files)

    def _resume(self) -> None:
        """Use what an interrupted call of the same settings and files has left, and remove anything else."""
        earlier = State.read(self._folder) if self._folder.exists() else None
        same = earlier is not None and (earlier.settings, earlier.files) == (self._state.settings, self._state.files)
        if self._folder.exists() and not same:
            shutil.rmtree(self._folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        if earlier is not None and same:
            self._state = earlier
        else:
            self._state.write(self._folder)

    # The first pass

    def _read(self) -> Learned:
        """Read the source, or what is left of it, into raw shards; and count."""
        learned = Learned()
        known = self._known_shards()
        if self._state.n_raw is not None and self._state.files is not None and len(known) == self._state.n_raw:
            for number in range(len(known)):
                learned.add(list(read_shard(self._file(RAW, number))), self._settings, number)
                self._tell("read", number + 1, len(known), learned)
            learned.layout = self._state.layout
            return learned
        n = 0
        for blocks in self._shards_of_source():
            checksums = [block.checksum() for block in blocks]
            if n >= len(known) or known[n] != checksums:
                self._forget(n)
                known = known[:n]
                size = sum(array.nbytes for block in blocks for array in block.arrays().values())
                with naming_space(self._folder, size):
                    write_shard(self._file(RAW, n), blocks)
            if learned.layout is None and blocks[0].layout is not None:
                learned.layout = blocks[0].layout.to_json()
            learned.add(blocks, self._settings, n)
            n += 1
            self._tell("read", n, None, learned)
        if n == 0:
            raise InputError("the source must hold at least one sequence, but it is empty")
        if n < len(known):
            self._forget(n)
        self._state.n_raw, self._state.layout = n, learned.layout
        self._save()
        return learned

    def _known_shards(self) -> list[list[int]]:
        """The checksums of the blocks of each raw shard that an interrupted call has left."""
        known: list[list[int]] = []
        try:
            while self._file(RAW, len(known)).exists():
                known.append(checksums_of(self._file(RAW, len(known))))
        except ModelFileError:
            pass  # a damaged file is written again, with those behind it
        return known

    def _shards_of_source(self) -> Iterator[list[RawBlock]]:
        blocks: list[RawBlock] = []
        n_positions = 0
        for block in self._source.blocks():
            for part in block.cut(self._settings.shard_positions):
                if blocks and n_positions + part.X.n_positions > self._settings.shard_positions:
                    yield blocks
                    blocks, n_positions = [], 0
                blocks.append(part)
                n_positions += part.X.n_positions
        if blocks:
            yield blocks

    def _forget(self, n: int) -> None:
        """Remove what depends on raw shard n and those behind it."""
        for number in range(n, n + 1 + len(list(self._folder.glob(f"{RAW}-*")))):
            self._file(RAW, number).unlink(missing_ok=True)
        for file in self._folder.glob(f"{PAIRS}-*"):
            file.unlink()
        if self._state.n_raw is not None or self._state.shards:
            self._state.n_raw, self._state.encoder, self._state.shards, self._state.counts = None, None, [], {}
            self._save()

    # The second pass

    def _encoder(self, draft: EncoderDraft | None, learned: Learned) -> Encoder:
        """The encoder of all data. Pairs are merged one group of columns after the other, to bound memory."""
        assert draft is not None
        if draft.needs_pairs:
            self._write_pairs(draft, learned)
        alphabets: dict[str, Values] = {}
        for names in pair_groups(draft.pair_rules):
            shards = range(self._state.n_raw or 0)
            merged = merge_pairs(read_pairs(self._file(PAIRS, number), draft, names) for number in shards)
            assert merged is not None
            alphabets |= draft.pair_alphabets(merged)
        return draft.encoder_with(alphabets)

    def _write_pairs(self, draft: EncoderDraft, learned: Learned) -> None:
        """Write the pairs of each shard to a file, unless an interrupted call did."""
        total = self._state.n_raw or 0
        n_positions = 0
        for number in range(total):
            file = self._file(PAIRS, number)
            if not is_intact(file):
                found = merge_pairs(draft.pairs(block.X, self._settings.n_threads) for block in self._blocks(number))
                assert found is not None
                with naming_space(self._folder, sum(pairs.keys.nbytes for pairs in found.pairs.values())):
                    write_pairs(file, found)
            n_positions += self._settings.shard_positions
            self._tell("pairs", number + 1, total, learned, min(n_positions, learned.n_positions))

    # The last pass

    def _write_codes(self, encoder: Encoder, draft: EncoderDraft | None, learned: Learned) -> ColumnFiles:
        files = self._opened_files(encoder, learned)
        total = self._state.n_raw or 0
        counts = CodeCounts(encoder, draft, self._state.counts)
        for number in range(len(files.shards), total):
            with naming_space(self._folder, self._bytes_left(files, learned)):
                for block in self._blocks(number):
                    encoded = self._encoded(encoder, block.X)
                    gold = None
                    if block.y is not None and learned.labels is not None:
                        gold = learned.labels.stored(block.y)
                    files.add(encoded, gold, block.sample_weight)
                    counts.add(block.X, encoded, self._settings.n_threads)
                files.end_shard()
                self._state.shards = [asdict(shard) for shard in files.shards]
                self._state.encoder, self._state.counts = encoder.digest, counts.to_json()
                self._save()
            self._tell("codes", number + 1, total, learned, files.shards[-1].positions)
        return files

    def _opened_files(self, encoder: Encoder, learned: Learned) -> ColumnFiles:
        """The files with the shards that an interrupted call has left, if they are intact."""
        gold = DTYPES[learned.labels.kind] if learned.labels is not None else None
        without = _unweighted_bags(encoder, learned.statistics)
        dtypes = dtypes_of(encoder, gold, weighted=learned.weighted, without_weights=without)
        shards = [Shard(**shard) for shard in self._state.shards] if self._state.encoder == encoder.digest else []
        if shards:
            try:
                files = ColumnFiles(self._folder, dtypes, shards)
                files.verify()
                return files
            except (CorpusError, OSError, LookupError):
                pass  # written again from the start
        self._state.shards, self._state.counts = [], {}
        return ColumnFiles(self._folder, dtypes, [])

    def _encoded(self, encoder: Encoder, X: Sequences) -> Encoded:
        if self._settings.like is not None:
            return encoder.transform(X, self._settings.n_threads)
        return encoder.encode_part(X, self._settings.n_threads)

    def _bytes_left(self, files: ColumnFiles, learned: Learned) -> int:
        """About how many bytes the codes of the other shards take."""
        done = files.shards[-1].positions if files.shards else 0
        widths = {name: np.dtype(dtype).itemsize for name, dtype in files.dtypes.items()}
        if done:
            by_position = sum(files.shards[-1].ends[name] * width for name, width in widths.items()) / done
        else:
            by_position = sum(widths.values())
        return int(by_position * (learned.n_positions - done))

    def _finish(self, encoder: Encoder, draft: EncoderDraft | None, learned: Learned, files: ColumnFiles) -> None:
        """Write the encoder and the index, and open the result: what cannot be opened is not called complete."""
        counts = CodeCounts(encoder, draft, self._state.counts)
        final = encoder.with_presence(counts.presence(learned)) if draft is not None and draft.approximate else encoder
        files.drop_ones()
        labels = learned.labels
        write_encoder(self._folder / ENCODER, final, None if labels is None else labels.alphabet)
        index = CorpusIndex(
            dtypes=files.dtypes,
            shards=tuple(files.shards),
            recipe=self._settings.recipe,
            label_kind=None if labels is None else labels.kind,
            n_missing=counts.missing,
            missing=learned.missing_shares(),
            unseen=counts.unseen,
            layout=learned.layout,
            source=dict(self._source.description),
        )
        storage.write_parts(self._folder / INDEX, [index.to_json().encode()])
        CorpusFolder.open(self._folder)

    # What all passes use

    def _blocks(self, number: int) -> Iterator[RawBlock]:
        """The blocks of a raw shard; a column may be absent if it may be so in any block."""
        for block in read_shard(self._file(RAW, number)):
            optional = self._optional or block.X.optional_columns
            X = Sequences.trusted(block.X.starts, block.X.columns, None, optional)
            yield RawBlock(X, block.y, block.sample_weight)

    def _file(self, kind: str, number: int) -> Path:
        return self._folder / f"{kind}-{number:06d}.hedgerow"

    def _save(self) -> None:
        self._state.write(self._folder)

    def _tell(self, name: str, step: int, total: int | None, learned: Learned, positions: int | None = None) -> None:
        self._progress(
            {
                "pass": name,
                "step": step,
                "total": total,
                "sequences": learned.n_sequences,
                "positions": learned.n_positions if positions is None else positions,
                "seconds": time.perf_counter() - self._began,
            }
        )


def remove_scratch(folder: Path) -> None:
    """Remove what only the passes need, once the folder has its name: until then an interrupted call continues."""
    arrays = {file_of(folder, name) for name in CorpusIndex.read(folder / INDEX).dtypes}
    ones = [file for file in folder.glob("*.bin") if file not in arrays]  # weights that are all 1
    for file in [*folder.glob(f"{RAW}-*"), *folder.glob(f"{PAIRS}-*"), *ones, folder / PROGRESS]:
        file.unlink(missing_ok=True)


def _unweighted_bags(encoder: Encoder, statistics: EncoderStatistics | None) -> set[str]:
    """The bags of X that never have a weight other than 1."""
    if statistics is None:
        return set()
    weighted = {column.name for column in statistics.placed() if column.weighted}
    return {
        spec.name
        for spec in encoder.columns
        if spec.kind == "bag" and spec.rule is None and spec.name not in weighted and not _fills_weights(spec)
    }


def _fills_weights(spec: ColumnSpec) -> bool:
    return isinstance(spec.fill_value, FillBag) and any(weight != 1 for weight in spec.fill_value.weights)
