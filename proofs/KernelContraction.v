(* How near the computed polynomial of kernel.c is to the one in real numbers, whichever pairs of a product and a sum a
   compiler makes one operation of: line "rounding of the polynomial" in docs/explanation/draw.md. *)

From Coq Require Import Reals Lra ZArith List Lia.
From Flocq Require Import Core Relative.
From Discreet Require Import FastPass Doubles KernelConstants Kernel.
Import ListNotations.
Open Scope R_scope.

(* One step of Horner's form: fused, or with a product and a sum that are rounded each. *)
Definition either (fused : bool) (p r c : R) : R := if fused then rnd (p * r + c) else rnd (rnd (p * r) + c).

(* `fused j` says whether the step with j coefficients behind it is fused. *)
Fixpoint mixed (fused : nat -> bool) (numbers : list (Z * Z)) (r : R) : R :=
  match numbers with
  | [] => 0
  | [last] => value last
  | first :: rest => either (fused (length rest)) (mixed fused rest r) r (value first)
  end.

Definition exactly : list (Z * Z) -> R -> R := horner (fun p r c => p * r + c).

(* Far more than half of the least subnormal number, 2^-1075, and still nothing here. *)
Definition least : R := / 2 ^ 100.

Lemma least_positive : 0 < least.
Proof. unfold least. cbn. lra. Qed.

Lemma rounding : forall x, Rabs (rnd x - x) <= u * Rabs x + least.
Proof.
  intros x.
  destruct (error_N_FLT radix2 (-1074) 53 ltac:(lia) (fun n => negb (Z.even n)) x) as [t [a [small_t [small_a [_ equal]]]]].
  rewrite equal. replace (x * (1 + t) + a - x) with (t * x + a) by lra.
  replace (/ 2 * bpow radix2 (- (53) + 1)) with u in small_t by (unfold u; cbn; lra).
  assert (subnormal : bpow radix2 (-1074) <= least).
  { replace least with (bpow radix2 (-100)) by (unfold least; cbn; lra). apply bpow_le. lia. }
  pose proof least_positive.
  apply Rle_trans with (1 := Rabs_triang _ _). rewrite Rabs_mult.
  assert (Rabs t * Rabs x <= u * Rabs x) by (apply Rmult_le_compat_r; [apply Rabs_pos|exact small_t]). lra.
Qed.

Lemma step_error :
  forall fused p q r c d S T,
    Rabs (q - p) <= d -> Rabs r <= 1 / 2 -> Rabs (p * r) <= S -> Rabs (p * r + c) <= T ->
    Rabs (either fused q r c - (p * r + c)) <= (d * (1 / 2 + u / 2) + u * S + least) * (1 + u) + u * T + least.
Proof.
  intros fused p q r c d S T near small size whole. pose proof u_small as [u0 u1]. pose proof least_positive as l0.
  assert (d0 : 0 <= d) by (pose proof (Rabs_pos (q - p)); lra).
  set (s := if fused then q * r else rnd (q * r)).
  assert (is_step : either fused q r c = rnd (s + c)) by (unfold either, s; destruct fused; reflexivity).
  assert (moved : Rabs ((q - p) * r) <= d / 2).
  { rewrite Rabs_mult. apply Rle_trans with (d * (1 / 2)); [|lra]. apply Rmult_le_compat; try apply Rabs_pos; assumption. }
  assert (product : Rabs (q * r) <= S + d / 2).
  { replace (q * r) with (p * r + (q - p) * r) by lra. apply Rle_trans with (1 := Rabs_triang _ _). lra. }
  assert (first : Rabs (s - q * r) <= u * (S + d / 2) + least).
  { unfold s. destruct fused.
    - rewrite Rminus_diag_eq, Rabs_R0 by reflexivity.
      assert (0 <= S + d / 2) by (pose proof (Rabs_pos (q * r)); lra).
      assert (0 <= u * (S + d / 2)) by (apply Rmult_le_pos; lra). lra.
    - apply Rle_trans with (1 := rounding (q * r)).
      assert (u * Rabs (q * r) <= u * (S + d / 2)) by (apply Rmult_le_compat_l; lra). lra. }
  set (e := d * (1 / 2 + u / 2) + u * S + least).
  assert (sum : Rabs (s + c - (p * r + c)) <= e).
  { replace (s + c - (p * r + c)) with ((s - q * r) + (q - p) * r) by lra.
    apply Rle_trans with (1 := Rabs_triang _ _). unfold e. lra. }
  assert (size_of_sum : Rabs (s + c) <= T + e).
  { replace (s + c) with ((p * r + c) + (s + c - (p * r + c))) by lra. apply Rle_trans with (1 := Rabs_triang _ _). lra. }
  rewrite is_step.
  replace (rnd (s + c) - (p * r + c)) with ((rnd (s + c) - (s + c)) + (s + c - (p * r + c))) by lra.
  apply Rle_trans with (1 := Rabs_triang _ _). pose proof (rounding (s + c)) as last.
  assert (u * Rabs (s + c) <= u * (T + e)) by (apply Rmult_le_compat_l; lra). lra.
Qed.

(* Bounds on the size and on the error, for r of size at most 1/2. *)
Fixpoint size (numbers : list (Z * Z)) : R :=
  match numbers with
  | [] => 0
  | [last] => Rabs (value last)
  | first :: rest => size rest / 2 + Rabs (value first)
  end.

Fixpoint error (numbers : list (Z * Z)) : R :=
  match numbers with
  | [] => 0
  | [_] => 0
  | _ :: rest => (error rest * (1 / 2 + u / 2) + u * (size rest / 2) + least) * (1 + u) + u * size numbers + least
  end.

Lemma half_product : forall p r bound, Rabs p <= bound -> Rabs r <= 1 / 2 -> Rabs (p * r) <= bound / 2.
Proof.
  intros p r bound le small. rewrite Rabs_mult. apply Rle_trans with (bound * (1 / 2)); [|lra].
  apply Rmult_le_compat; try apply Rabs_pos; assumption.
Qed.

Lemma size_bound : forall numbers r, Rabs r <= 1 / 2 -> Rabs (exactly numbers r) <= size numbers.
Proof.
  intros numbers r small. induction numbers as [|first rest IH]; [cbn; rewrite Rabs_R0; lra|].
  destruct rest as [|next rest]; [cbn; lra|].
  change (exactly (first :: next :: rest) r) with (exactly (next :: rest) r * r + value first).
  change (size (first :: next :: rest)) with (size (next :: rest) / 2 + Rabs (value first)).
  apply Rle_trans with (1 := Rabs_triang _ _). pose proof (half_product _ r _ IH small). lra.
Qed.

Lemma error_bound :
  forall fused numbers r, Rabs r <= 1 / 2 -> Rabs (mixed fused numbers r - exactly numbers r) <= error numbers.
Proof.
  intros fused numbers r small. induction numbers as [|first rest IH].
  - cbn. rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
  - destruct rest as [|next rest]; [cbn; rewrite Rminus_diag_eq, Rabs_R0 by reflexivity; lra|].
    set (behind := next :: rest) in *.
    exact (step_error (fused (length behind)) (exactly behind r) (mixed fused behind r) r (value first) (error behind)
      (size behind / 2) (size (first :: behind)) IH small (half_product _ r _ (size_bound behind r small) small)
      (size_bound (first :: behind) r small)).
Qed.

Ltac in_numbers :=
  cbn [error size tl taylor value]; unfold least, u;
  cbn [value bpow radix_val radix2 Z.pow_pos Pos.iter Z.mul Pos.mul pow].

Lemma size_without_constant : size (tl taylor) <= 829 / 1000 /\ size (tl (tl taylor)) <= 273 / 1000.
Proof. split; in_numbers; by_short_intervals. Qed.

Lemma error_without_constant : error (tl taylor) <= 126 / 10 ^ 18.
Proof. in_numbers. by_short_intervals. Qed.

Lemma relative_error :
  forall computed real bound, 0 < real -> Rabs (computed - real) <= bound * real ->
    exists t, Rabs t <= bound /\ computed = real * (1 + t).
Proof.
  intros computed real bound pos near. exists ((computed - real) / real). split; [|field; lra].
  unfold Rdiv. rewrite Rabs_mult, (Rabs_pos_eq (/ real)) by (left; apply Rinv_0_lt_compat, pos).
  apply Rmult_le_reg_r with real; [exact pos|]. rewrite Rmult_assoc, Rinv_l by lra. lra.
Qed.

Lemma mixed_is_double : forall fused r, format (mixed fused taylor r).
Proof.
  intros fused r.
  change (mixed fused taylor r)
    with (either (fused (length (tl taylor))) (mixed fused (tl taylor) r) r (value (hd (0%Z, 0%Z) taylor))).
  unfold either. destruct (fused (length (tl taylor))); apply format_rnd.
Qed.

Theorem contraction_error :
  forall fused r, Rabs r <= 1 / 2 ->
    exists t, Rabs t <= 340 / 10 ^ 18 /\ mixed fused taylor r = polynomial r * (1 + t).
Proof.
  intros fused r small. destruct size_without_constant as [most _]. pose proof error_without_constant as rounded.
  set (p := exactly (tl taylor) r). set (q := mixed fused (tl taylor) r).
  assert (is_p : polynomial r = p * r + value (hd (0%Z, 0%Z) taylor)) by reflexivity.
  assert (is_q : mixed fused taylor r = either (fused (length (tl taylor))) q r (value (hd (0%Z, 0%Z) taylor))) by reflexivity.
  assert (one : value (hd (0%Z, 0%Z) taylor) = 1) by (cbn; lra).
  pose proof (error_bound fused (tl taylor) r small) as near. fold p q in near.
  pose proof (size_bound (tl taylor) r small) as bound. fold p in bound.
  assert (product : Rabs (p * r) <= 415 / 1000) by (pose proof (half_product p r (829 / 1000) ltac:(lra) small); lra).
  assert (real : 585 / 1000 <= polynomial r).
  { rewrite is_p, one. apply between in product. lra. }
  apply relative_error; [lra|]. rewrite is_q, is_p in *.
  set (c := value (hd (0%Z, 0%Z) taylor)) in *.
  apply Rle_trans with (1 := step_error (fused (length (tl taylor))) p q r c (126 / 10 ^ 18) (415 / 1000) (p * r + c)
    ltac:(lra) small product ltac:(rewrite Rabs_pos_eq; lra)).
  unfold u, least. cbn [pow]. lra.
Qed.

(* The same of (2^r - 1) / r, of which the kernel makes differences of weights. *)
Theorem contraction_error_without_constant :
  forall fused r, Rabs r <= 1 / 2 ->
    exists t, Rabs t <= 240 / 10 ^ 18 /\ mixed fused (tl taylor) r = exactly (tl taylor) r * (1 + t).
Proof.
  intros fused r small. destruct size_without_constant as [_ most]. pose proof error_without_constant as rounded.
  set (p := exactly (tl (tl taylor)) r).
  assert (is_p : exactly (tl taylor) r = p * r + value (hd (0%Z, 0%Z) (tl taylor))) by reflexivity.
  pose proof (size_bound (tl (tl taylor)) r small) as bound. fold p in bound.
  pose proof (half_product p r (273 / 1000) ltac:(lra) small) as product.
  assert (first : 693 / 1000 <= value (hd (0%Z, 0%Z) (tl taylor))) by (cbn; lra).
  assert (real : 556 / 1000 <= exactly (tl taylor) r) by (rewrite is_p; apply between in product; lra).
  pose proof (error_bound fused (tl taylor) r small) as near.
  apply relative_error; lra.
Qed.
