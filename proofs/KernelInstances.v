(* Numbers that meet all that the theorems of the kernel ask for, and what is wrong with other constants. *)

From Coq Require Import Reals Lra ZArith Lia List.
From Flocq Require Import Core.
From Discreet Require Import FastPass Doubles KernelConstants Kernel KernelRounding KernelContraction KernelWeight.
Import ListNotations.
Open Scope R_scope.

Lemma quarter_is_a_double : format (1 / 4).
Proof.
  replace (1 / 4) with (bpow radix2 (-2)) by (cbn; lra). apply generic_format_FLT_bpow; [reflexivity|lia].
Qed.

Lemma quarter_is_small : Rabs (1 / 4) <= 1 / 2.
Proof. rewrite Rabs_pos_eq; lra. Qed.

Lemma quarter_in_range : 0 <= 1 / 4 <= value cut_at.
Proof. cbn. lra. Qed.

Example series_error_instance :
  Rabs (polynomial (1 / 4) * exp (- (1 / 4 * ln 2)) - 1) <= 863 / 10 ^ 17.
Proof. apply series_error. exact quarter_is_small. Qed.

Example rounding_error_instance :
  exists t, Rabs t <= 232 / 10 ^ 18 /\ twice (1 / 4) = polynomial (1 / 4) * (1 + t).
Proof. apply rounding_error; [exact quarter_is_a_double|exact quarter_is_small]. Qed.

Example rounding_error_without_constant_instance :
  exists t, Rabs t <= 170 / 10 ^ 18 /\ once_without_constant (1 / 4) = without_constant (1 / 4) * (1 + t).
Proof. apply rounding_error_without_constant; [exact quarter_is_a_double|exact quarter_is_small]. Qed.

Example rest_is_exact_instance :
  exists n : Z, (0 <= n <= 94)%Z /\ whole (1 / 4) = IZR n /\ rest (1 / 4) = IZR n - 1 / 4 /\
    format (rest (1 / 4)) /\ Rabs (rest (1 / 4)) <= 1 / 2.
Proof. apply rest_is_exact; [exact quarter_is_a_double|exact quarter_in_range]. Qed.

Example argument_error_instance :
  Rabs (3 / value ln2_as_double - 1 / ln 2 * 3) <= 532 / 100 * u * Rabs (3 / value ln2_as_double).
Proof.
  pose proof u_small as [small _].
  assert (some : 0 < value ln2_as_double) by (cbn; lra).
  apply argument_error with (quotient := 1 / value ln2_as_double) (a := 0) (b := 0) (c := 0) (d := 0);
    rewrite ?Rabs_R0; try lra; field; lra.
Qed.

Lemma computed_exists :
  forall fused y, format y -> 0 <= y <= value cut_at -> exists weight, computed fused y weight.
Proof.
  intros fused y is_double range. destruct (rest_is_exact y is_double range) as [n [_ [is_whole _]]].
  exists (scaled (mixed fused taylor (rest y)) n), n. split; [exact is_whole|reflexivity].
Qed.

(* Every other pair of a product and a sum is one operation. *)
Example contraction_error_instance :
  exists t, Rabs t <= 340 / 10 ^ 18 /\ mixed Nat.even taylor (1 / 4) = polynomial (1 / 4) * (1 + t).
Proof. apply contraction_error. exact quarter_is_small. Qed.

Example contraction_error_without_constant_instance :
  exists t, Rabs t <= 240 / 10 ^ 18 /\ mixed Nat.even (tl taylor) (1 / 4) = exactly (tl taylor) (1 / 4) * (1 + t).
Proof. apply contraction_error_without_constant. exact quarter_is_small. Qed.

(* All pairs and none are two of these cases. *)
Lemma all_and_none : forall r, mixed (fun _ => true) taylor r = once r /\ mixed (fun _ => false) taylor r = twice r.
Proof. intros r. split; reflexivity. Qed.

Example weight_error_instance :
  exists weight, computed Nat.even (1 / 4) weight /\
    Rabs (weight - exp (- (1 / 4 * ln 2))) <= 472 / 10 ^ 16 * weight.
Proof.
  pose proof u_small as [small _].
  destruct (computed_exists Nat.even (1 / 4) quarter_is_a_double quarter_in_range) as [weight is_computed].
  exists weight. split; [exact is_computed|].
  apply weight_error with (y := 1 / 4) (fused := Nat.even); try assumption.
  - exact quarter_is_a_double.
  - exact quarter_in_range.
  - rewrite Rminus_diag_eq by reflexivity. rewrite Rabs_R0. lra.
Qed.

Lemma cut_is_a_double : format (value cut_at) /\ 0 <= value cut_at <= value cut_at.
Proof. split; [apply integers_are_doubles; reflexivity|cbn; lra]. Qed.

Example cut_weight_instance :
  exp (- (94 * ln 2)) < bpow radix2 (-92) /\
  exists weight, computed Nat.even (value cut_at) weight /\ weight < bpow radix2 (-92).
Proof.
  pose proof u_small as [small _]. destruct cut_is_a_double as [is_double range].
  destruct (computed_exists Nat.even (value cut_at) is_double range) as [weight is_computed].
  assert (all : exp (- (94 * ln 2)) < bpow radix2 (-92) /\ weight < bpow radix2 (-92)).
  { apply cut_weight with (y := 94) (fused := Nat.even); [cbn; lra| |exact is_computed].
    rewrite Rminus_diag_eq by reflexivity. rewrite Rabs_R0. lra. }
  split; [apply all|]. exists weight. split; [exact is_computed|apply all].
Qed.

(* ---- What is wrong with other constants ---- *)

Lemma eleven_coefficients_are_too_few :
  Rabs (horner (fun p r c => p * r + c) (firstn 11 taylor) (1 / 2) * exp (- (1 / 2 * ln 2)) - 1) > 863 / 10 ^ 17.
Proof.
  cbn [firstn horner taylor value]. cbn [bpow radix_val radix2 Z.pow_pos Pos.iter Z.mul Pos.mul].
  rewrite Rabs_left by by_intervals. by_intervals.
Qed.

Lemma the_series_is_no_nearer :
  Rabs (polynomial (- (1 / 2)) * exp (- (- (1 / 2) * ln 2)) - 1) > 861 / 10 ^ 17.
Proof.
  unfold polynomial. cbn [horner taylor value].
  cbn [bpow radix_val radix2 Z.pow_pos Pos.iter Z.mul Pos.mul].
  rewrite Rabs_left by by_intervals. by_intervals.
Qed.

Lemma five_roundings_of_the_argument_are_too_few :
  exists quotient y,
    quotient = 1 * (1 + 2 * u) / value ln2_as_double * (1 + u) /\ y = quotient * (1 * (1 + u)) * (1 + u) /\
    Rabs (y - 1 / ln 2 * 1) > 5 * u * Rabs y.
Proof.
  exists (1 * (1 + 2 * u) / value ln2_as_double * (1 + u)),
    (1 * (1 + 2 * u) / value ln2_as_double * (1 + u) * (1 * (1 + u)) * (1 + u)).
  split; [reflexivity|split; [reflexivity|]]. unfold u.
  cbn [value ln2_as_double bpow radix_val radix2 Z.pow_pos Pos.iter Z.mul Pos.mul pow].
  rewrite !Rabs_right; [|apply Rle_ge; by_intervals|apply Rle_ge; by_intervals].
  apply Rlt_gt, Rminus_gt. apply Rlt_gt. by_intervals.
Qed.

(* With 1.5 * 2^51 added, a half stays a half. *)
Lemma a_smaller_rounding_constant_leaves_halves :
  rnd (rnd (1 / 2 + 3 * 2 ^ 50) - 3 * 2 ^ 50) = 1 / 2.
Proof.
  assert (sum : rnd (1 / 2 + 3 * 2 ^ 50) = 1 / 2 + 3 * 2 ^ 50).
  { apply round_generic; [apply valid_rnd_N|]. apply generic_format_FLT.
    exists (Float radix2 (3 * 2 ^ 51 + 1) (-1)); [unfold F2R; cbn; lra|cbn; lia|cbn; lia]. }
  rewrite sum. replace (1 / 2 + 3 * 2 ^ 50 - 3 * 2 ^ 50) with (bpow radix2 (-1)) by (cbn; lra).
  rewrite round_generic; [cbn; lra|apply valid_rnd_N|].
  apply generic_format_FLT_bpow; [reflexivity|lia].
Qed.

Lemma half_of_the_weights_error_is_too_little :
  exists exact weight, Rabs (value cut_at - exact) <= 532 / 100 * u * value cut_at /\
    computed Nat.even (value cut_at) weight /\
    Rabs (weight - exp (- (exact * ln 2))) > / 2 ^ 45 * weight.
Proof.
  destruct cut_is_a_double as [is_double range].
  destruct (computed_exists Nat.even (value cut_at) is_double range) as [weight is_computed].
  destruct (computed_is_near (value cut_at) Nat.even weight is_double range is_computed)
    as [s [t [ss [st near]]]].
  pose proof u_small as [small _].
  exists (93 * (1 - 532 / 100 * u)), weight.
  assert (is_cut : value cut_at = 93) by reflexivity.
  split; [|split; [exact is_computed|]].
  - rewrite is_cut. replace (93 - 93 * (1 - 532 / 100 * u)) with (532 / 100 * u * 93) by lra.
    rewrite Rabs_pos_eq by lra. lra.
  - rewrite near, is_cut. apply between in ss. apply between in st.
    set (base := exp (- (93 * ln 2))). assert (0 < base) by apply exp_pos.
    replace (exp (- (93 * (1 - 532 / 100 * u) * ln 2))) with (base * exp (93 * (532 / 100 * u) * ln 2))
      by (unfold base; rewrite <- exp_plus; f_equal; lra).
    replace (base * (1 + s) * (1 + t) - base * exp (93 * (532 / 100 * u) * ln 2))
      with (base * ((1 + s) * (1 + t) - exp (93 * (532 / 100 * u) * ln 2))) by lra.
    rewrite Rabs_mult, (Rabs_pos_eq base) by lra.
    replace (/ 2 ^ 45 * (base * (1 + s) * (1 + t))) with (base * (/ 2 ^ 45 * ((1 + s) * (1 + t)))) by lra.
    apply Rmult_gt_compat_l; [lra|].
    assert (below : (1 + s) * (1 + t) - exp (93 * (532 / 100 * u) * ln 2) < - (29 / 10 ^ 15)).
    { unfold u. cbn [pow]. clear - ss st. by_intervals. }
    assert (size : (1 + s) * (1 + t) <= 1 + 1 / 10 ^ 14) by (clear - ss st; by_intervals).
    rewrite Rabs_left by lra. lra.
Qed.
