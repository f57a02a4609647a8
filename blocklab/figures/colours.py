"""The colours of all figures: apart for colour-blind readers, visible on white and on black.

Source: Okabe and Ito (2008), four of their eight. The stream is blue, what is written orange.
"""

BLUE = "#0072B2"
ORANGE = "#D55E00"
GREEN = "#009E73"
PURPLE = "#CC79A7"
GREY = "#808080"

STREAM, DELTA = BLUE, ORANGE
