"""What a study will cost before anything is submitted: items, tokens, GPU hours, disk and money.

Requests are those that the stages really make, of a sample of each benchmark's items; tokens are counted with a
model's own tokenizer where it lies on disk and are four characters long elsewhere. A written answer counts with
its full limit, so that tokens written are an upper bound; tokens read are too few while they rest on hand-written
rows, whose texts are shorter than the published ones. Hours follow from the throughput in the config's `planning`
and are corrected by the time that finished jobs took.
"""
