"""From raw columns to attribute ids: encoder, labels, windows, bins, scaling and missing values."""

from hedgerow.encoding.attributes import PADDING as PADDING
from hedgerow.encoding.attributes import AttributeReader as AttributeReader
from hedgerow.encoding.binning import Binning as Binning
from hedgerow.encoding.binning import fit_binnings as fit_binnings
from hedgerow.encoding.conjunctions import NO_CONJUNCTIONS as NO_CONJUNCTIONS
from hedgerow.encoding.conjunctions import Conjunctions as Conjunctions
from hedgerow.encoding.encoder import Encoder as Encoder
from hedgerow.encoding.labels import Labels as Labels
from hedgerow.encoding.scaling import AS_IS as AS_IS
from hedgerow.encoding.scaling import Scaling as Scaling
from hedgerow.encoding.scaling import fit_scalings as fit_scalings
from hedgerow.encoding.scaling import numeric_moments as numeric_moments
from hedgerow.encoding.window import HERE as HERE
from hedgerow.encoding.window import Window as Window
