"""Conversion copies values and ids of sequences as the file has them."""

from __future__ import annotations

import io
import json

import pytest

import hedgerow as hr
from hedgerow.errors import InputError


def converted(text, before, after, **options):
    target = io.BytesIO()
    hr.formats.convert(
        io.BytesIO(text if isinstance(text, bytes) else text.encode()), target, before, to=after, **options
    )
    return target.getvalue() if after == "parquet" else target.getvalue().decode()


TABLE = "sequence,time,zip,label\na7,1423072261,00710,on\na7,1423072262,NA,off\nb,,1.50,on\n"


@pytest.mark.parametrize("through", ["csv", "tsv"])
def test_tables_are_copied(through):
    assert converted(converted(TABLE, "csv", through), through, "csv") == TABLE
    by_day = "time,day,label\n1,mo,on\n2,tu,off\n"
    assert converted(by_day, "csv", "csv", sequence="day") == by_day
    by_two = "time,day,hour,label\n1,mo,00,on\n2,mo,01,off\n"
    assert converted(by_two, "csv", "csv", sequence=["hour", "day"]) == by_two
    assert converted("time,label\n1,on\n2,off\n", "csv", "csv") == "time,label\n1,on\n2,off\n"  # one sequence


def test_numbers_of_tables_as_text_and_as_numbers():
    assert converted(TABLE, "csv", "conll").splitlines()[:2] == ["1423072261\t00710\ton", "1423072262\tNA\toff"]
    first, second = map(json.loads, converted(TABLE, "csv", "jsonl").splitlines())
    assert first == {
        "sequence": "a7", "time": [1423072261, 1423072262], "zip": ["00710", None], "labels": ["on", "off"],
    }  # fmt: skip
    assert second["time"] == [None]
    assert converted(TABLE, "csv", "crfsuite").splitlines()[0] == "on\ttime:1423072261\tzip=00710"


def test_json_lines_keep_their_ids_and_numbers():
    line = '{"id": "s1", "text": "a b", "n": [1423072261, 0.1], "w": ["a", "b"], "labels": ["B", "I"], "weight": 1.0}\n'
    other = '{"id": 2, "w": ["c"], "labels": ["B"], "weight": 2.0}\n'
    assert converted(line + other, "jsonl", "jsonl") == line + other
    line, other = (text.partition(', "weight"')[0] + "}\n" for text in (line, other))
    table = converted(line + other, "jsonl", "csv")
    assert table == "sequence,n,w,labels\ns1,1423072261,a,B\ns1,0.1,b,I\n2,0,c,B\n"
    again = converted(table, "csv", "jsonl")
    assert [json.loads(row)["sequence"] for row in again.splitlines()] == ["s1", "2"]
    with pytest.raises(InputError, match=r"an id of its own for each sequence, but .*s1.* names several; give each"):
        converted(line + line, "jsonl", "csv")
    with pytest.raises(InputError, match="an id of its own for each sequence, but some sequences have none"):
        converted(line + other.replace('"id": 2, ', ""), "jsonl", "csv", columns=["w"])
    with pytest.raises(InputError, match="which absent values need, cannot hold 'id', 'text' of a sequence; give"):
        converted(line + '[{"w": "a", "label": "B"}, {"label": "B"}]', "jsonl", "jsonl", label=False)


def test_parquet_keeps_its_ids_and_numbers():
    pytest.importorskip("polars")
    table = converted(TABLE, "csv", "parquet")
    assert converted(table, "parquet", "csv") == TABLE.replace("NA", "")


def test_ids_of_a_corpus():
    corpus = hr.read(io.StringIO(TABLE), "csv")
    assert corpus.ids == {"sequence": ["a7", "b"]}
    target = io.StringIO()
    hr.write(target, corpus)
    assert target.getvalue().splitlines()[3] == "b,,1.5,on"
