"""Child processes that run a function of this gradebox, with a channel to their parent.

    parent: Child("module:main") ══ Channel: messages of bytes, descriptors ══ child: main(channel)

A child is a new interpreter: it neither runs the user's script again nor inherits its threads and
locks. It ends when its channel does, which is also when the parent ends, however that ends.
"""
