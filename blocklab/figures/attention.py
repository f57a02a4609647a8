"""All drawings and plots of unit 03, under one name for its lecture."""

from blocklab.figures.attention_heads import clocks, sharing, split_and_merge
from blocklab.figures.attention_masks import (
    additive_form,
    four_masks,
    next_tokens,
    prefix_mask,
    reach,
)
from blocklab.figures.attention_plots import plot_cache, plot_distance, plot_moved, plot_scale
from blocklab.figures.attention_sequences import (
    after_the_past,
    cache_steps,
    pieces,
    second_sequence,
    translation,
)
from blocklab.figures.attention_words import by_hand, looking, three_vectors, viewpoints

__all__ = [
    "additive_form",
    "after_the_past",
    "by_hand",
    "cache_steps",
    "clocks",
    "four_masks",
    "looking",
    "next_tokens",
    "pieces",
    "plot_cache",
    "plot_distance",
    "plot_moved",
    "plot_scale",
    "prefix_mask",
    "reach",
    "second_sequence",
    "sharing",
    "split_and_merge",
    "three_vectors",
    "translation",
    "viewpoints",
]
