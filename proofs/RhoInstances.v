(* The rho of a bounded range by numbers, at epsilon = ln 2; and what is wrong with smaller ones. *)

From Coq Require Import Reals Lra Lia List ZArith.
From Interval Require Import Float.Specific_stdz Float.Specific_ops Tactic.
From Discreet Require Import Sums Range RangeInstances Rounds RoundsInstances Kappa Rho Outcomes Flip FlipPrivate FlipInstances.
Import ListNotations.
(* Intervals over Coq's own integers: no axioms of machine integers, which a precision rules out. *)
Module Numbers := SpecificFloat StdZRadix2.
Module Intervals := IntervalTactic Numbers.
Import Intervals.
Open Scope R_scope.

Lemma one_epsilon : ln 2 * 1 = ln 2.
Proof. ring. Qed.

Lemma PQ_range : bounded_range 2 (ln 2) P Q.
Proof. rewrite <- one_epsilon. exact em_bounded_range_instance. Qed.

Lemma kappa_value : 596 / 10000 <= kappa (ln 2) <= 597 / 10000.
Proof.
  unfold kappa. destruct (Rlt_dec 0 (ln 2)) as [_|not]; [|exfalso; exact (not log_two_positive)].
  rewrite exp_two. replace (ln 2 / (2 - 1)) with (ln 2) by field. split; interval with (i_prec 60).
Qed.

Example k0_of_a_sum_instance : k0 (1 + 1) - k0 1 - k0 1 <= 1 * (1 + 1) / 1 * k1 1.
Proof. apply k0_of_a_sum; lra. Qed.

Example kappa_is_k1_instance : kappa (ln 2) = k1 (ln 2 / 2).
Proof. apply kappa_is_k1. exact log_two_positive. Qed.

Example kappa_below_hoeffding_instance : 596 / 10000 <= ln 2 * ln 2 / 8.
Proof.
  apply Rle_trans with (kappa (ln 2)); [apply kappa_value|].
  apply kappa_below_hoeffding. left. exact log_two_positive.
Qed.

Example kappa_superadditive_instance : 1192 / 10000 <= kappa (ln 2 + ln 2).
Proof.
  apply Rle_trans with (kappa (ln 2) + kappa (ln 2)); [destruct kappa_value; lra|].
  apply kappa_superadditive; left; exact log_two_positive.
Qed.

Example range_is_concentrated_instance : concentrated 2 (kappa (ln 2)) P Q.
Proof.
  apply range_is_concentrated; [left; exact log_two_positive|exact em_law_instance|exact Q_law|exact PQ_range].
Qed.

Example range_is_concentrated_by_hoeffding_instance : concentrated 2 (ln 2 * ln 2 / 8) P Q.
Proof.
  apply range_is_concentrated_by_hoeffding;
    [left; exact log_two_positive|exact em_law_instance|exact Q_law|exact PQ_range].
Qed.

Example range_renyi_instance : renyi 2 2 P Q <= range_curve (ln 2) 2.
Proof.
  exact (proj1 (range_renyi 2 (ln 2) P Q 2 log_two_positive em_law_instance Q_law PQ_range ltac:(lra))).
Qed.

Example curve_below_kappa_instance : range_curve (ln 2) 2 <= 1194 / 10000.
Proof.
  pose proof (curve_below_kappa (ln 2) 2 log_two_positive ltac:(lra)). destruct kappa_value. lra.
Qed.

Example curve_is_attained_instance :
  exists p q, law 2 p /\ law 2 q /\ bounded_range 2 (ln 2) p q /\ renyi 2 2 p q = range_curve (ln 2) 2.
Proof. apply curve_is_attained; [exact log_two_positive|lra]. Qed.

Example kappa_is_least_instance :
  exists p q, law 2 p /\ law 2 q /\ bounded_range 2 (ln 2) p q /\ ~ concentrated 2 (595 / 10000) p q.
Proof. apply kappa_is_least; [exact log_two_positive|destruct kappa_value; lra]. Qed.

Lemma rounds_concentrated :
  adds_up concentrated 2 two (fun _ => kappa (ln 2)) (fun _ => P) (fun _ => Q) (2 * kappa (ln 2)) [].
Proof.
  pose proof (kappa_nonneg (ln 2)) as k0. cbn [adds_up].
  split; [exact em_law_instance|split; [exact Q_law|split; [exact k0|split; [exact range_is_concentrated_instance|]]]].
  intros i _.
  split; [exact em_law_instance|split; [exact Q_law|split; [exact k0|split; [exact range_is_concentrated_instance|]]]].
  intros. lra.
Qed.

Example concentrated_composes_instance :
  renyi_of_histories 2 two 3 (fun _ => P) (fun _ => Q) <= 3 * (2 * kappa (ln 2)).
Proof. apply concentrated_composes with (rho := fun _ => kappa (ln 2)); [exact rounds_concentrated|lra]. Qed.

Example summed_range_is_concentrated_instance :
  renyi_of_histories 2 two 3 (asked P) (asked Q) <= 3 * kappa (2 * ln 2).
Proof. apply summed_range_is_concentrated with (e := cost); [exact summed|lra]. Qed.

Definition zeros (h : list nat) : nat := if both_zero h then 1%nat else 0%nat.

Example outcome_of_summed_range_instance :
  outcome 2 two (asked P) zeros 1 = 4 / 25 /\
  concentrated 2 (kappa (2 * ln 2)) (outcome 2 two (asked P) zeros) (outcome 2 two (asked Q) zeros).
Proof.
  split.
  - unfold outcome, chance. cbn. destruct P_values as [p0 _]. rewrite p0. lra.
  - apply outcome_of_summed_range with (e := cost); [exact summed|].
    intros h. unfold zeros. destruct (both_zero h); lia.
Qed.

(* ---- What is wrong ---- *)

(* A ninth of epsilon squared in place of an eighth. *)
Lemma a_ninth_is_too_little :
  exists p q, law 2 p /\ law 2 q /\ bounded_range 2 (ln 2) p q /\ ~ concentrated 2 (ln 2 * ln 2 / 9) p q.
Proof.
  apply kappa_is_least; [exact log_two_positive|].
  apply Rlt_le_trans with (596 / 10000); [interval with (i_prec 60)|apply kappa_value].
Qed.

Lemma order_two : forall p q, 0 < p 0%nat -> 0 < p 1%nat -> 0 < q 0%nat -> 0 < q 1%nat ->
  moment 2 2 p q = p 0%nat * p 0%nat / q 0%nat + p 1%nat * p 1%nat / q 1%nat.
Proof.
  intros p q p0 p1 q0 q1.
  assert (one : forall x y, 0 < x -> 0 < y -> power x 2 * power y (1 - 2) = x * x / y).
  { intros x y x0 y0. unfold power.
    destruct (Rlt_dec 0 x) as [_|not]; [|contradiction]. destruct (Rlt_dec 0 y) as [_|not]; [|contradiction].
    replace (2 * ln x) with (ln x + ln x) by ring. replace ((1 - 2) * ln y) with (- ln y) by ring.
    rewrite exp_plus, exp_Ropp, !exp_ln by assumption. reflexivity. }
  unfold moment. cbn [sum]. rewrite !one by assumption. ring.
Qed.

(* What is only epsilon-DP: randomised response. *)
Definition truth : nat -> R := pair (2 / 3) (1 / 3).
Definition lie : nat -> R := pair (1 / 3) (2 / 3).

Lemma epsilon_dp_is_not_enough :
  law 2 truth /\ law 2 lie /\ private 2 (ln 2) truth lie /\ ~ concentrated 2 (ln 2 * ln 2 / 8) truth lie.
Proof.
  split; [split; [intros [|i] _; cbn; lra|cbn; lra]|].
  split; [split; [intros [|i] _; cbn; lra|cbn; lra]|]. split.
  - apply points_to_events. rewrite exp_two. intros [|i] _; cbn; lra.
  - intros [_ all]. destruct (all 2 ltac:(lra)) as [bound _]. unfold renyi in bound.
    rewrite order_two in bound by (cbn; lra). unfold truth, lie, pair in bound.
    assert (more : 2 * (ln 2 * ln 2 / 8) < ln (2 / 3 * (2 / 3) / (1 / 3) + 1 / 3 * (1 / 3) / (2 / 3)) / (2 - 1)) by interval with (i_prec 60).
    lra.
Qed.

(* Permute-and-flip, which has no bounded range. *)
Lemma pf_is_not_a_bounded_range_by_rho :
  private 2 (ln 2) (pf 2 (ln 2) after) (pf 2 (ln 2) before) /\
  ~ concentrated 2 (ln 2 * ln 2 / 8) (pf 2 (ln 2) after) (pf 2 (ln 2) before).
Proof.
  split; [rewrite <- one_epsilon at 1; exact pf_private_instance|].
  intros [_ all]. destruct (all 2 ltac:(lra)) as [bound _]. unfold renyi in bound.
  destruct pf_before as [b0 b1], pf_after as [a0 a1].
  rewrite order_two in bound by (rewrite ?a0, ?a1, ?b0, ?b1; lra). rewrite a0, a1, b0, b1 in bound.
  assert (more : 2 * (ln 2 * ln 2 / 8) < ln (3 / 4 * (3 / 4) / (1 / 2) + 1 / 4 * (1 / 4) / (1 / 2)) / (2 - 1)) by interval with (i_prec 60).
  lra.
Qed.

(* Two answers cost twice what one of them does, not the largest of both. *)
Lemma divergences_of_both_add_up :
  0 < renyi 2 2 truth lie /\
  renyi_of_histories 2 two 2 (fun _ => truth) (fun _ => lie) = 2 * renyi 2 2 truth lie.
Proof.
  assert (value : moment 2 2 truth lie = 3 / 2) by (rewrite order_two by (cbn; lra); unfold truth, lie, pair; field).
  assert (square : moment_of_histories 2 two 2 (fun _ => truth) (fun _ => lie) = moment 2 2 truth lie * moment 2 2 truth lie).
  2:{ unfold renyi, renyi_of_histories. rewrite square, value. split; [interval with (i_prec 60)|].
      rewrite ln_mult by lra. field. }
  assert (both : forall r i j, path (fun _ => r) [i; j] = r j * r i) by (intros; cbn; ring).
  unfold moment_of_histories, two. cbn [total]. unfold moment. cbn [sum]. rewrite !both.
  assert (positive : forall (r : nat -> R) (i : nat) (a : R) (j : nat), (forall m, 0 < r m) -> power (r j * r i) a = power (r j) a * power (r i) a).
  { intros r i a j pos. apply power_product; left; apply pos. }
  assert (t0 : forall m, 0 < truth m) by (intros [|m]; cbn; lra).
  assert (l0 : forall m, 0 < lie m) by (intros [|m]; cbn; lra).
  rewrite !positive by assumption. ring.
Qed.
