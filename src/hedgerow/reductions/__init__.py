"""Reductions: problems of many labels made into problems of two."""

from hedgerow.reductions.codes import CODES as CODES
from hedgerow.reductions.codes import Code as Code
from hedgerow.reductions.codes import make_words as make_words
from hedgerow.reductions.learner import CodeRules as CodeRules
from hedgerow.reductions.learner import OutputCoding as OutputCoding
