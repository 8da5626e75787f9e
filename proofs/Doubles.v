(* The certificate of the fast pass in doubles: what FastPass.v says of roundings holds of those of IEEE-754, to nearest,
   with subnormal numbers. Doubles have no largest number here; what overflows is refused elsewhere. *)

From Coq Require Import Reals Lra ZArith Lia.
From Flocq Require Import Core Relative Plus_error Mult_error.
From Discreet Require Import FastPass.
Open Scope R_scope.

Notation format := (generic_format radix2 (FLT_exp (-1074) 53)).
Notation rnd := (round radix2 (FLT_exp (-1074) 53) ZnearestE).

Global Instance precision_is_positive : Prec_gt_0 53 := eq_refl.

Definition u : R := / 2 ^ 53.

Lemma u_bpow : bpow radix2 (-53) = u.
Proof. unfold u. cbn. lra. Qed.

Lemma u_small : 0 < u <= 1 / 1000.
Proof. unfold u. cbn. lra. Qed.

(* A product or quotient that is 0, or no subnormal number. *)
Theorem rounding_is_relative :
  forall x, x = 0 \/ bpow radix2 (-1022) <= Rabs x -> rounded u x (rnd x).
Proof.
  intros x [->|large].
  - rewrite round_0 by apply valid_rnd_N. exists 0. rewrite Rabs_R0. pose proof u_small. split; lra.
  - destruct (relative_error_N_FLT_ex radix2 (-1074) 53 ltac:(lia) (fun n => negb (Z.even n)) x large)
      as [t [small equal]].
    exists t. split; [|exact equal].
    replace (/ 2 * bpow radix2 (- (53) + 1)) with u in small; [exact small|].
    unfold u. cbn. lra.
Qed.

(* A sum or difference of doubles, subnormal or not. *)
Theorem rounding_of_sums_is_relative :
  forall x y, format x -> format y -> rounded u (x + y) (rnd (x + y)).
Proof.
  intros x y fx fy.
  destruct (FLT_plus_error_N_ex radix2 (-1074) 53 (fun n => negb (Z.even n)) x y fx fy)
    as [t [small equal]].
  exists t. split; [|exact equal].
  apply Rle_trans with (1 := small).
  unfold u_ro. replace (bpow radix2 (- (53) + 1)) with (2 * u) by (unfold u; cbn; lra).
  pose proof u_small. apply Rmult_le_reg_r with (1 + / 2 * (2 * u)); [lra|].
  unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra.
  assert (0 <= u * u) by (apply Rmult_le_pos; lra). lra.
Qed.

Lemma rounding_of_differences_is_relative :
  forall x y, format x -> format y -> rounded u (x - y) (rnd (x - y)).
Proof.
  intros x y fx fy. unfold Rminus. apply rounding_of_sums_is_relative; [exact fx|].
  apply generic_format_opp. exact fy.
Qed.

Lemma format_rnd : forall x, format (rnd x).
Proof. intros x. apply generic_format_round; [apply FLT_exp_valid; reflexivity|apply valid_rnd_N]. Qed.

Lemma rnd_0 : rnd 0 = 0.
Proof. apply round_0, valid_rnd_N. Qed.

Lemma rnd_at_least : forall e x, (-1074 <= e)%Z -> bpow radix2 e <= x -> bpow radix2 e <= rnd x.
Proof.
  intros e x big le. apply round_ge_generic; [apply FLT_exp_valid; reflexivity|apply valid_rnd_N| |exact le].
  apply generic_format_FLT_bpow; [reflexivity|exact big].
Qed.

Lemma positive_part : forall e x, bpow radix2 e <= x -> 0 < x.
Proof. intros e x le. pose proof (bpow_gt_0 radix2 e). lra. Qed.

Lemma product_is_normal :
  forall a b x y, (-1022 <= a + b)%Z -> bpow radix2 a <= x -> bpow radix2 b <= y ->
    bpow radix2 (-1022) <= Rabs (x * y).
Proof.
  intros a b x y big lex ley.
  pose proof (positive_part a x lex). pose proof (positive_part b y ley).
  rewrite Rabs_pos_eq by (apply Rmult_le_pos; lra).
  apply Rle_trans with (bpow radix2 a * bpow radix2 b).
  - rewrite <- bpow_plus. apply bpow_le. exact big.
  - apply Rmult_le_compat; [apply bpow_ge_0|apply bpow_ge_0|exact lex|exact ley].
Qed.

(* ---- The comparisons of `Sums.locate`, operation by operation ---- *)

Section Locate.
Variables A zh : R.
Hypothesis a0 : 0 <= A.
Hypothesis a_double : format A.
Hypothesis zh_double : format zh.
Hypothesis zh_size : bpow radix2 (-100) <= zh.

Definition margin : R := rnd (rnd (2 * A + 8 * u) * zh).
Definition target_of (word : R) : R := rnd (rnd word * zh).

Lemma margin_is_slack : slack u 8 A zh margin.
Proof.
  pose proof u_small as small.
  exists (rnd (2 * A + 8 * u)). split.
  - apply rounding_of_sums_is_relative.
    + replace (2 * A) with (A + A) by lra.
      assert (exact : rnd (A + A) = A + A).
      { replace (A + A) with (A * bpow radix2 1) by (cbn; lra). apply round_generic; [apply valid_rnd_N|].
        apply mult_bpow_pos_exact_FLT; [exact a_double|lia]. }
      rewrite <- exact. apply format_rnd.
    + replace (8 * u) with (bpow radix2 (-50)) by (unfold u; cbn; lra).
      apply generic_format_FLT_bpow; [reflexivity|lia].
  - apply rounding_is_relative. right.
    apply product_is_normal with (-50)%Z (-100)%Z; [lia| |exact zh_size].
    apply rnd_at_least; [lia|]. replace (bpow radix2 (-50)) with (8 * u) by (unfold u; cbn; lra). lra.
Qed.

Lemma target_is_target :
  forall word, word = 0 \/ bpow radix2 (-900) <= word -> target u word zh (target_of word).
Proof.
  intros word size. exists (rnd word). split.
  - apply rounding_is_relative. destruct size as [zero|size]; [left; exact zero|right].
    rewrite Rabs_pos_eq by (left; apply positive_part with (1 := size)).
    apply Rle_trans with (2 := size). apply bpow_le. lia.
  - apply rounding_is_relative. destruct size as [->|size]; [left; rewrite rnd_0; lra|right].
    apply product_is_normal with (-900)%Z (-100)%Z; [lia| |exact zh_size].
    apply rnd_at_least; [lia|exact size].
Qed.

Theorem locate_lower :
  forall z s sh word v,
    0 < z -> 0 <= sh -> format sh ->
    Rabs (zh - z) <= A * zh -> Rabs (sh - s) <= A * zh ->
    word = 0 \/ bpow radix2 (-900) <= word -> word <= v -> v <= 1 ->
    rnd (target_of word - sh) > margin -> s <= v * z.
Proof.
  intros z s sh word v z0 sh0 sh_double total sum size wv v1 above.
  pose proof u_small as [small0 small1].
  assert (w0 : 0 <= word).
  { destruct size as [->|size]; [lra|left; apply positive_part with (1 := size)]. }
  apply lower_end_is_certain with (u := u) (A := A) (zh := zh) (sh := sh) (word := word)
    (t := target_of word) (margin := margin); try assumption.
  - apply positive_part with (1 := zh_size).
  - apply target_is_target, size.
  - exact margin_is_slack.
  - exists (rnd (target_of word - sh)). split; [|exact above].
    apply rounding_of_differences_is_relative; [apply format_rnd|exact sh_double].
Qed.

Theorem locate_upper :
  forall z s sh next v,
    0 < z -> sh <= zh -> format sh ->
    Rabs (zh - z) <= A * zh -> Rabs (sh - s) <= A * zh ->
    bpow radix2 (-900) <= next -> next <= 1 -> 0 <= v -> v < next ->
    rnd (sh - target_of next) > margin -> v * z < s.
Proof.
  intros z s sh next v z0 shz sh_double total sum size n1 v0 vn above.
  pose proof u_small as [small0 small1].
  apply upper_end_is_certain with (u := u) (A := A) (zh := zh) (sh := sh) (next := next)
    (t := target_of next) (margin := margin); try assumption.
  - apply positive_part with (1 := zh_size).
  - apply target_is_target. right. exact size.
  - exact margin_is_slack.
  - exists (rnd (sh - target_of next)). split; [|exact above].
    apply rounding_of_differences_is_relative; [exact sh_double|apply format_rnd].
Qed.

(* `Sums.locate_all` and `compute_locate`: a word of `width` bits as a double, times a cell. *)
Theorem locate_all_upper :
  forall z s sh word width v,
    0 < z -> sh <= zh -> format sh ->
    Rabs (zh - z) <= A * zh -> Rabs (sh - s) <= A * zh ->
    (0 <= width <= 64)%Z -> word = 0 \/ bpow radix2 (-900) <= word ->
    word + bpow radix2 (- width) <= 1 -> 0 <= v -> v < word + bpow radix2 (- width) ->
    rnd (sh - target_of word) > rnd (margin + bpow radix2 (- width) * zh) -> v * z < s.
Proof.
  intros z s sh word width v z0 shz sh_double total sum wide size w1 v0 vn above.
  pose proof u_small as [small0 small1].
  assert (w0 : 0 <= word).
  { destruct size as [->|size]; [lra|left; apply positive_part with (1 := size)]. }
  apply upper_end_in_a_batch_is_certain with (u := u) (A := A) (zh := zh) (sh := sh) (word := word)
    (cell := bpow radix2 (- width)) (t := target_of word) (margin := margin); try assumption.
  - apply positive_part with (1 := zh_size).
  - apply bpow_gt_0.
  - apply target_is_target, size.
  - exact margin_is_slack.
  - exists (rnd (margin + bpow radix2 (- width) * zh)). split.
    + apply rounding_of_sums_is_relative; [apply format_rnd|].
      rewrite Rmult_comm. apply mult_bpow_exact_FLT; [exact zh_double|].
      assert (large : (-100 < mag radix2 zh)%Z).
      { apply mag_gt_bpow. rewrite Rabs_pos_eq by (left; apply positive_part with (1 := zh_size)).
        exact zh_size. }
      lia.
    + exists (rnd (sh - target_of word)). split; [|exact above].
      apply rounding_of_differences_is_relative; [exact sh_double|apply format_rnd].
Qed.

End Locate.
