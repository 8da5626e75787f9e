"""Thousands of bad calls of everything public: `make fuzz`.

A call is a valid one of a public function, class, method or command, of which one to three arguments are
replaced by something hostile: huge, no number, no text, endless, an object of another library, an object whose
own methods raise. The private data hold a canary. Each call is made in a process with limits, 5 s and 1 GB.

What a call may do:

- return; then `repr` of what it returns does not fail;
- raise a `DiscreetError`: `discreet.errors` lists them. `UnreadableArgument` only if an object was given that
  raises by itself;
- raise the `TypeError` of a call with wrong arguments, or one that a docstring names (copies of sessions and nodes);
- raise `IndexError` from `[...]`, and `OpenDPException` from `to_opendp`;
- a command ends with 0, 1 or 2 and lets no exception out.

All else is a finding, and so is the canary in the text, the attributes, the notes, the cause or the context of an
error, in a variable of a frame of the library that an error holds, or in a warning.

    python -m tests.fuzz --seed 1 --calls 20000          # all of it
    python -m tests.fuzz --only median --calls 500       # what has that in its name
    python -m tests.fuzz --seed 1 --again 4711           # one call, with its traceback

A finding is printed with the last of these.
"""
