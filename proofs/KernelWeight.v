(* The weight that kernel.c computes, as a whole: its argument, what is left of that, the polynomial, and the power of two.

   Every rounding is Flocq's, of doubles to nearest. `w` is 2^(-y) for the real y, `computed` for the double. *)

From Coq Require Import Reals Lra ZArith Lia.
From Flocq Require Import Core Sterbenz Mult_error.
From Discreet Require Import FastPass Doubles KernelConstants Kernel KernelContraction.
Open Scope R_scope.

Definition shifted (y : R) : R := rnd (y + value rounding_constant).
Definition whole (y : R) : R := rnd (shifted y - value rounding_constant).
Definition rest (y : R) : R := rnd (whole y - y).

(* p is the polynomial as it was computed. *)
Definition scaled (p : R) (n : Z) : R := rnd (p * bpow radix2 (- n)).

Lemma integers_are_doubles : forall n, (Z.abs n < 2 ^ 53)%Z -> format (IZR n).
Proof.
  intros n small. apply generic_format_FLT. exists (Float radix2 n 0); [|exact small|cbn; lia].
  unfold F2R. cbn. lra.
Qed.

(* Line "k and r": k is a whole number, and r = k - y is exact, at most 1/2. *)
Theorem rest_is_exact :
  forall y, format y -> 0 <= y <= value cut_at ->
    exists n : Z, (0 <= n <= 94)%Z /\ whole y = IZR n /\ rest y = IZR n - y /\
      format (rest y) /\ Rabs (rest y) <= 1 / 2.
Proof.
  intros y is_double [y0 y1].
  assert (top : value cut_at = 93) by reflexivity.
  assert (big : value rounding_constant = IZR (3 * 2 ^ 51)) by (cbn; lra).
  pose (m := ZnearestE (y + value rounding_constant)).
  assert (range : 4503599627370496 <= y + value rounding_constant < 9007199254740992) by (rewrite big; cbn; lra).
  assert (is_shifted : shifted y = IZR m).
  { unfold shifted, round, F2R, scaled_mantissa, cexp. cbn [Fnum Fexp].
    assert (exponent : FLT_exp (-1074) 53 (mag radix2 (y + value rounding_constant)) = 0%Z).
    { rewrite (mag_unique_pos radix2 (y + value rounding_constant) 53); [reflexivity|]. cbn. lra. }
    rewrite exponent. cbn [Z.opp bpow]. rewrite !Rmult_1_r. reflexivity. }
  pose proof (Znearest_half (fun x => negb (Z.even x)) (y + value rounding_constant)) as near. fold m in near.
  pose (n := (m - 3 * 2 ^ 51)%Z).
  assert (is_n : shifted y - value rounding_constant = IZR n).
  { rewrite is_shifted, big. unfold n. rewrite minus_IZR. reflexivity. }
  assert (apart : Rabs (IZR n - y) <= 1 / 2).
  { rewrite <- is_n, is_shifted.
    replace (IZR m - value rounding_constant - y) with (- (y + value rounding_constant - IZR m)) by lra.
    rewrite Rabs_Ropp. lra. }
  pose proof (between _ _ apart) as both.
  assert (low : (0 <= n)%Z).
  { assert (-1 < n)%Z; [|lia]. apply lt_IZR. lra. }
  assert (high : (n <= 94)%Z).
  { assert (n < 94)%Z; [|lia]. apply lt_IZR. lra. }
  assert (is_whole : whole y = IZR n).
  { unfold whole. rewrite is_n. apply round_generic; [apply valid_rnd_N|].
    apply integers_are_doubles. lia. }
  assert (exact : format (IZR n - y)).
  { destruct (Z.eq_dec n 0) as [zero|some].
    - rewrite zero. replace (0 - y) with (- y) by lra. apply generic_format_opp, is_double.
    - assert (1 <= IZR n) by (apply IZR_le; lia).
      apply sterbenz; [apply FLT_exp_valid; reflexivity|apply FLT_exp_monotone| |exact is_double|lra].
      apply integers_are_doubles. lia. }
  assert (is_rest : rest y = IZR n - y).
  { unfold rest. rewrite is_whole. apply round_generic; [apply valid_rnd_N|exact exact]. }
  exists n. rewrite is_rest. repeat split; assumption.
Qed.

(* Line "argument": the rate, the double of ln 2, the quotient, the gap and the product, each by its factor. *)
Theorem argument_error :
  forall rate gap quotient y a b c d,
    Rabs a <= 2 * u -> Rabs b <= u -> Rabs c <= u -> Rabs d <= u ->
    quotient = rate * (1 + a) / value ln2_as_double * (1 + b) -> y = quotient * (gap * (1 + c)) * (1 + d) ->
    Rabs (y - rate / ln 2 * gap) <= 532 / 100 * u * Rabs y.
Proof.
  intros rate gap quotient y a b c d sa sb sc sd -> ->.
  apply between in sa. apply between in sb. apply between in sc. apply between in sd.
  unfold u in *. cbn [pow] in *.
  set (factor := value ln2_as_double / ln 2 / ((1 + a) * (1 + b) * (1 + c) * (1 + d)) - 1).
  assert (some : 0 < value ln2_as_double) by (cbn; lra).
  assert (ln2_some : 0 < ln 2) by (apply Rlt_le_trans with (6931 / 10000); [lra|by_intervals]).
  set (y := rate * (1 + a) / value ln2_as_double * (1 + b) * (gap * (1 + c)) * (1 + d)).
  assert (a1 : 0 < 1 + a) by lra. assert (b1 : 0 < 1 + b) by lra.
  assert (c1 : 0 < 1 + c) by lra. assert (d1 : 0 < 1 + d) by lra.
  replace (y - rate / ln 2 * gap) with (- factor * y)
    by (unfold y, factor; field; repeat split; lra).
  rewrite Rabs_mult, Rabs_Ropp. apply Rmult_le_compat_r; [apply Rabs_pos|].
  unfold factor. cbn [value ln2_as_double bpow radix_val radix2 Z.pow_pos Pos.iter Z.mul Pos.mul].
  clear - sa sb sc sd.
  by_intervals.
Qed.

Lemma power_of_two : forall n : Z, bpow radix2 n = exp (IZR n * ln 2).
Proof. intros n. rewrite bpow_exp. reflexivity. Qed.

(* The weight of a double y, whichever pairs of a product and a sum of the polynomial a compiler made one operation of. *)
Definition computed (fused : nat -> bool) (y weight : R) : Prop :=
  exists n : Z, whole y = IZR n /\ weight = scaled (mixed fused taylor (rest y)) n.

Lemma computed_is_near :
  forall y fused weight, format y -> 0 <= y <= value cut_at -> computed fused y weight ->
    exists s t, Rabs s <= 863 / 10 ^ 17 /\ Rabs t <= 340 / 10 ^ 18 /\
      weight = exp (- (y * ln 2)) * (1 + s) * (1 + t).
Proof.
  intros y fused weight is_double range [n' [is_whole' is_weight]].
  destruct (rest_is_exact y is_double range) as [n [sizes [is_whole [is_rest [rest_double small]]]]].
  rewrite is_whole in is_whole'. apply eq_IZR in is_whole'. subst n'.
  destruct (contraction_error fused (rest y) small) as [t [st et]].
  pose proof (series_error (rest y) small) as series.
  set (s := polynomial (rest y) * exp (- (rest y * ln 2)) - 1) in series.
  assert (is_polynomial : polynomial (rest y) = exp (rest y * ln 2) * (1 + s)).
  { unfold s. replace (1 + (polynomial (rest y) * exp (- (rest y * ln 2)) - 1))
      with (polynomial (rest y) * exp (- (rest y * ln 2))) by lra.
    rewrite exp_Ropp. field. pose proof (exp_pos (rest y * ln 2)). lra. }
  exists s, t. split; [exact series|split; [exact st|]].
  set (p := mixed fused taylor (rest y)) in *.
  assert (p_double : format p) by apply mixed_is_double.
  assert (p_size : 1 / 2 <= p).
  { rewrite et, is_polynomial. apply between in small. apply between in series. apply between in st.
    apply Rle_trans with (exp (- (1 / 2) * ln 2) * (1 - 863 / 10 ^ 17) * (1 - 340 / 10 ^ 18)); [by_intervals|].
    pose proof (exp_pos (- (1 / 2) * ln 2)). pose proof (exp_pos (rest y * ln 2)).
    apply Rmult_le_compat; [apply Rmult_le_pos; lra|lra| |lra].
    apply Rmult_le_compat; [lra|lra| |lra].
    apply exp_le. apply Rmult_le_compat_r; [|lra].
    apply Rlt_le, Rlt_le_trans with (6931 / 10000); [lra|by_intervals]. }
  clearbody p.
  rewrite is_weight. unfold scaled. rewrite round_generic; [|apply valid_rnd_N|].
  - rewrite et, is_polynomial, is_rest, power_of_two, opp_IZR.
    replace (exp (- (y * ln 2)))
      with (exp ((IZR n - y) * ln 2) * exp (- IZR n * ln 2)).
    + lra.
    + rewrite <- exp_plus. f_equal. lra.
  - apply mult_bpow_exact_FLT; [exact p_double|].
    assert (large : (-1 < mag radix2 p)%Z).
    { apply mag_gt_bpow. rewrite Rabs_pos_eq by lra. cbn. lra. }
    lia.
Qed.

(* Line "together": the computed weight of a double y within 5.32 u of the real one. *)
Theorem weight_error :
  forall y exact fused weight,
    format y -> 0 <= y <= value cut_at -> Rabs (y - exact) <= 532 / 100 * u * y -> computed fused y weight ->
    Rabs (weight - exp (- (exact * ln 2))) <= 472 / 10 ^ 16 * weight.
Proof.
  intros y exact fused weight is_double range near is_computed.
  destruct (computed_is_near y fused weight is_double range is_computed) as [s [t [ss [st ->]]]].
  set (d := y - exact) in *.
  assert (small : Rabs d <= 532 / 100 * u * 93).
  { apply Rle_trans with (1 := near). pose proof u_small. apply Rmult_le_compat_l; [lra|].
    replace 93 with (value cut_at) by reflexivity. lra. }
  replace (exp (- (exact * ln 2))) with (exp (- (y * ln 2)) * exp (d * ln 2))
    by (rewrite <- exp_plus; f_equal; unfold d; lra).
  apply between in ss. apply between in st. apply between in small.
  set (base := exp (- (y * ln 2))). assert (0 < base) by apply exp_pos.
  replace (base * (1 + s) * (1 + t) - base * exp (d * ln 2))
    with (base * ((1 + s) * (1 + t) - exp (d * ln 2))) by lra.
  rewrite Rabs_mult, (Rabs_pos_eq base) by lra.
  replace (472 / 10 ^ 16 * (base * (1 + s) * (1 + t))) with (base * (472 / 10 ^ 16 * ((1 + s) * (1 + t)))) by lra.
  apply Rmult_le_compat_l; [lra|].
  assert (difference : Rabs ((1 + s) * (1 + t) - exp (d * ln 2)) <= 4719 / 10 ^ 17).
  { unfold u in small. cbn [pow] in small. clear - ss st small. by_intervals. }
  assert (size : 1 - 1 / 10 ^ 14 <= (1 + s) * (1 + t)) by (clear - ss st; by_intervals).
  lra.
Qed.

(* An exponent beyond the cut: both the real weight and what is computed at the cut are below 2^-92. *)
Theorem cut_weight :
  forall y exact fused weight,
    value cut_at <= y -> Rabs (y - exact) <= 532 / 100 * u * y -> computed fused (value cut_at) weight ->
    exp (- (exact * ln 2)) < bpow radix2 (-92) /\ weight < bpow radix2 (-92).
Proof.
  intros y exact fused weight far near is_computed.
  rewrite power_of_two.
  assert (ln2_some : 1 / 2 < ln 2) by by_intervals.
  assert (is_cut : value cut_at = 93) by reflexivity.
  split.
  - apply exp_increasing. apply between in near. unfold u in near. cbn [pow] in near.
    replace (IZR (-92) * ln 2) with (- (92 * ln 2)) by lra.
    apply Ropp_lt_contravar. apply Rmult_lt_compat_r; lra.
  - destruct (computed_is_near (value cut_at) fused weight) as [s [t [ss [st ->]]]]; try assumption.
    + apply integers_are_doubles. reflexivity.
    + lra.
    + rewrite is_cut. apply between in ss. apply between in st.
      replace (exp (IZR (-92) * ln 2)) with (exp (- (93 * ln 2)) * exp (ln 2))
        by (rewrite <- exp_plus; f_equal; lra).
      rewrite exp_ln by lra. pose proof (exp_pos (- (93 * ln 2))).
      rewrite Rmult_assoc. apply Rmult_lt_compat_l; [lra|].
      clear - ss st. by_intervals.
Qed.
