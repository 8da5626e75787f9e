(* The reference search as a program in OCaml, of which `make bridge` makes a yardstick for Python, numpy and the kernel.

   Coq's integers become those of Zarith, and indices, which are natural numbers here, OCaml's own. *)

From Coq Require Import Extraction ExtrOcamlBasic ExtrOcamlNatInt ExtrOcamlZBigInt.
From Discreet Require Import Locate.

Extraction "reference.ml" locate.
