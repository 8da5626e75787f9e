(* How near the computed polynomial of kernel.c is to the one in real numbers: what Gappa proved, in words of Flocq. *)

From Coq Require Import Reals Lra ZArith List Classical_Prop.
From Flocq Require Import Core.
From Gappa Require Import Gappa_library.
From Discreet Require Import FastPass Doubles KernelConstants Kernel KernelGappa.
Open Scope R_scope.

(* With a product and a sum that are rounded each, and where a compiler makes one operation of them. *)
Definition twice : R -> R := horner (fun p r c => rnd (rnd (p * r) + c)) taylor.
Definition once : R -> R := horner (fun p r c => rnd (p * r + c)) taylor.

(* The polynomial without its constant, divided by r. *)
Definition without_constant : R -> R := horner (fun p r c => p * r + c) (tl taylor).
Definition twice_without_constant : R -> R := horner (fun p r c => rnd (rnd (p * r) + c)) (tl taylor).
Definition once_without_constant : R -> R := horner (fun p r c => rnd (p * r + c)) (tl taylor).

Lemma relative :
  forall x y bound, REL x y bound -> forall b, - b <= lower bound -> upper bound <= b ->
    exists t, Rabs t <= b /\ x = y * (1 + t).
Proof.
  intros x y bound [t [[low high] equal]] b lowb highb. exists t. split; [|exact equal].
  apply Rabs_le. lra.
Qed.

(* The ends of Gappa's intervals as fractions. *)
Ltac in_fractions :=
  unfold i1, i2, i3, i4, i5, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, lower, upper, float2R, F2R;
  cbn [Fnum Fexp Defs.Fnum Defs.Fexp];
  cbn [bpow radix_val radix2 Z.pow_pos Pos.iter Z.mul Pos.mul].

Lemma gappa :
  forall r, format r -> Rabs r <= 1 / 2 ->
    ~ (((~ REL (twice r) (polynomial r) i2 \/ ~ REL (once r) (polynomial r) i3) \/
        ~ REL (twice_without_constant r) (without_constant r) i4) \/
       ~ REL (once_without_constant r) (without_constant r) i5).
Proof.
  intros r is_double small.
  assert (stays : rnd r = r) by (apply round_generic; [apply valid_rnd_N|exact is_double]).
  assert (exported :
    ~ (BND (Rabs (rnd r)) i1 /\
       (((~ REL (twice (rnd r)) (polynomial (rnd r)) i2 \/ ~ REL (once (rnd r)) (polynomial (rnd r)) i3) \/
         ~ REL (twice_without_constant (rnd r)) (without_constant (rnd r)) i4) \/
        ~ REL (once_without_constant (rnd r)) (without_constant (rnd r)) i5))) by exact (l1 r).
  rewrite stays in exported.
  intros wrong. apply exported. split; [|exact wrong].
  pose proof (Rabs_pos r). split; in_fractions; lra.
Qed.

Theorem rounding_error :
  forall r, format r -> Rabs r <= 1 / 2 ->
    (exists t, Rabs t <= 232 / 10 ^ 18 /\ twice r = polynomial r * (1 + t)) /\
    (exists t, Rabs t <= 172 / 10 ^ 18 /\ once r = polynomial r * (1 + t)).
Proof.
  intros r is_double small. pose proof (gappa r is_double small) as all. split.
  - apply relative with i2; [|in_fractions; lra|in_fractions; lra]. apply NNPP. tauto.
  - apply relative with i3; [|in_fractions; lra|in_fractions; lra]. apply NNPP. tauto.
Qed.

(* The same of (2^r - 1) / r, of which the kernel makes differences of weights. *)
Theorem rounding_error_without_constant :
  forall r, format r -> Rabs r <= 1 / 2 ->
    (exists t, Rabs t <= 240 / 10 ^ 18 /\ twice_without_constant r = without_constant r * (1 + t)) /\
    (exists t, Rabs t <= 170 / 10 ^ 18 /\ once_without_constant r = without_constant r * (1 + t)).
Proof.
  intros r is_double small. pose proof (gappa r is_double small) as all. split.
  - apply relative with i4; [|in_fractions; lra|in_fractions; lra]. apply NNPP. tauto.
  - apply relative with i5; [|in_fractions; lra|in_fractions; lra]. apply NNPP. tauto.
Qed.
