"""A language model small enough to make in a test."""

import torch

CORPUS = [
    "Question: which drug lowers glucose? Answer: metformin",
    "The patient has fever, cough and chest pain. The doctor asks about aspirin.",
    "Neumonía adquirida en la comunidad: amoxicilina 500 mg cada 8 horas.",
    "user: what is the dose?\nassistant: 10 mg a day.\n\n",
]
TEMPLATE = "{% for m in messages %}{{ m['role'] }}: {{ m['content'] }}\n{% endfor %}assistant: "


def write_model(directory, *, adds_bos=False, template=TEMPLATE, uniform=False, context=64, hidden_size=32):
    """A tiny Llama with random weights (or a head of zeros) and a byte-level tokenizer of about 300 tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    backend = Tokenizer(models.BPE())
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=320, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet)
    backend.train_from_iterator(CORPUS * 3, trainer)
    if adds_bos:
        backend.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, bos_token="<s>", eos_token="</s>")
    tokenizer.chat_template = template
    tokenizer.save_pretrained(directory)
    torch.manual_seed(3)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=hidden_size,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        bos_token_id=0,
        eos_token_id=1,
        initializer_range=0.4,
    )
    model = LlamaForCausalLM(config)
    if uniform:
        torch.nn.init.zeros_(model.lm_head.weight)
    model.save_pretrained(directory)
    return directory
