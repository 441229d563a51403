"""Labels as words of bits: what bits say, made into scores of labels."""

from hedgerow.coding.cascade import Cascade as Cascade
from hedgerow.coding.distances import Distance as Distance
from hedgerow.coding.potential import CodePotential as CodePotential
from hedgerow.coding.potential import bit_probabilities as bit_probabilities
