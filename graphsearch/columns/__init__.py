"""Columns of numbers: the form in which relations pass from stores through traversal to scoring."""

from graphsearch.columns.elements import NONE as NONE
from graphsearch.columns.elements import Codes as Codes
from graphsearch.columns.elements import Edges as Edges
from graphsearch.columns.elements import Expansion as Expansion
from graphsearch.columns.elements import FarEnds as FarEnds
from graphsearch.columns.elements import Floats as Floats
from graphsearch.columns.elements import Hits as Hits
from graphsearch.columns.elements import Keys as Keys
from graphsearch.columns.elements import Mask as Mask
from graphsearch.columns.elements import Mentioned as Mentioned
from graphsearch.columns.elements import Rows as Rows
from graphsearch.columns.elements import Steps as Steps
from graphsearch.columns.elements import Subgraph as Subgraph
from graphsearch.columns.elements import Turns as Turns
