"""The colours of pictures, on white and on dark pages."""

BLUE, ORANGE, GREEN, RED, BLACK, PINK = (
    "#0072b2", "#e69f00", "#009e73", "#d55e00", "#000000", "#cc79a7"
)  # fmt: skip
"""The palette of Okabe and Ito, which colour-blind readers can tell apart."""

PALE_BLUE, PALE_ORANGE = "#9cc9e4", "#f7e3b5"
"""For areas, below hatches."""

ON_DARK = {"#ffffff": "#16181c", BLACK: "#ececec", "#dddddd": "#44484f", "#cccccc": "#44484f",
           PALE_BLUE: "#1f4f6e", PALE_ORANGE: "#6b5417", BLUE: "#56b4e9"}  # fmt: skip
"""What colours become on a dark page. Those that are not here read on both."""
