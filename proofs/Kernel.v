(* The polynomial of src/discreet/sampling/kernel.c: how near it is to 2^r in real numbers, and how near to that what is
   computed. Lines of *The kernel* in docs/explanation/draw.md. *)

From Coq Require Import Reals Lra ZArith List.
From Flocq Require Import Core.
From Interval Require Import Float.Specific_stdz Float.Specific_ops Tactic.
From Discreet Require Import KernelConstants.
Import ListNotations.
Open Scope R_scope.

(* Intervals over Coq's own integers: no axioms of machine integers. *)
Module Numbers := SpecificFloat StdZRadix2.
Module Intervals := IntervalTactic Numbers.
Import Intervals.

(* For other files: there `interval` would be the one over machine integers. *)
Ltac by_intervals := interval with (i_prec 120).

(* Where nothing cancels. *)
Ltac by_short_intervals := interval with (i_prec 40).

Definition value (number : Z * Z) : R :=
  match number with
  | (m, 0%Z) => IZR m
  | (m, e) => IZR m * bpow radix2 e
  end.

(* c_0 + r (c_1 + r (... + r c_n)), each step done by `step p r c`, which stands for p * r + c. *)
Fixpoint horner (step : R -> R -> R -> R) (numbers : list (Z * Z)) (r : R) : R :=
  match numbers with
  | [] => 0
  | [last] => value last
  | first :: rest => step (horner step rest r) r (value first)
  end.

Definition polynomial : R -> R := horner (fun p r c => p * r + c) taylor.

(* 2^r as a real number. *)
Definition power (r : R) : R := exp (r * ln 2).

Theorem series_error :
  forall r, Rabs r <= 1 / 2 -> Rabs (polynomial r * exp (- (r * ln 2)) - 1) <= 863 / 10 ^ 17.
Proof.
  intros r small. apply Rabs_le_inv in small. unfold polynomial. cbn [horner taylor value].
  cbn [bpow radix_val radix2 Z.pow_pos Pos.iter Z.mul Pos.mul].
  interval with (i_bisect r, i_taylor r, i_prec 90, i_degree 14).
Qed.
