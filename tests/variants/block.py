"""Right answers to unit 05, each written in another way."""

from blocklab.reference import block as reference
from tests.variants.block_decoder import (
    DecoderBuffered,
    DecoderByTable,
    DecoderCopied,
    DecoderHooked,
    DecoderSliced,
)
from tests.variants.block_parallel import PARALLEL
from tests.variants.block_readings import (
    LoRAEinsum,
    LoRAMerged,
    LoRASmallStart,
    LoRATwoLinears,
    lens_at_once,
    lens_filled,
    lens_loop,
    lens_mapped,
)
from tests.variants.block_weights import (
    count_blocks,
    count_by_difference,
    count_on_meta,
    count_tensor,
    load_data,
    load_new_storage,
    load_strictly,
    load_without_gradient,
)
from tests.variants.block_wiring import (
    PostNamedRotate,
    PostOneLine,
    PostStacked,
    PostSteps,
    PreCloned,
    PreNamedRotate,
    PreOneLine,
    PreSteps,
    wire_by_comparing,
    wire_by_formula,
    wire_by_recording,
    wire_step_by_step,
)

BLOCK_NODES = [
    reference.block_nodes,
    "X0 Norm Causal_Attention Add_Attention X1 Norm FFN Add_FFN X2 "
    "Repeat Final_Norm LM_Head Logits",
    "x0 norm causal_attention add_attention\nx1 norm ffn add_ffn\nx2 repeat\n"
    "final_norm lm_head logits\n",
]

ARROWS = [
    reference.arrows.upper(),
    "Input Input Processing Processing\nInput Processing\nInput Processing\nHistory History\n",
]

CORRECT: dict[str, list] = {
    "block_nodes": BLOCK_NODES,
    "arrows": ARROWS,
    "PreNormBlock": [PreOneLine, PreNamedRotate, PreSteps, PreCloned],
    "PostNormBlock": [PostOneLine, PostSteps, PostNamedRotate, PostStacked],
    "ParallelBlock": PARALLEL,
    "Decoder": [DecoderBuffered, DecoderSliced, DecoderHooked, DecoderByTable, DecoderCopied],
    "count_parameters": [count_on_meta, count_blocks, count_by_difference, count_tensor],
    "logit_lens": [lens_at_once, lens_loop, lens_filled, lens_mapped],
    "LoRALinear": [LoRAMerged, LoRATwoLinears, LoRAEinsum, LoRASmallStart],
    "load_gpt2": [load_strictly, load_data, load_new_storage, load_without_gradient],
    "name_the_wire": [
        wire_by_recording,
        wire_by_formula,
        wire_step_by_step,
        wire_by_comparing,
    ],
}
