(* Numbers that meet all that the theorems on bounded range ask for: eta = ln 2, so that a score one higher doubles a
   weight; and what is wrong with smaller constants. *)

From Coq Require Import Reals Lra Lia.
From Discreet Require Import Sums Range.
Open Scope R_scope.

Definition pair (a b : R) (i : nat) : R := match i with O => a | _ => b end.
Definition equal : nat -> R := pair 1 1.

(* Weights 1 and 3; scores 0 and 0, on the neighbour 1 and 0. *)
Definition prior : nat -> R := pair 1 3.
Definition before : nat -> R := pair 0 0.
Definition after : nat -> R := pair 1 0.
Definition P : nat -> R := em 2 prior (ln 2) after.
Definition Q : nat -> R := em 2 prior (ln 2) before.

Lemma double : exp (ln 2 * 1) = 2.
Proof. rewrite Rmult_1_r. apply exp_ln. lra. Qed.

Lemma single : exp (ln 2 * 0) = 1.
Proof. rewrite Rmult_0_r. apply exp_0. Qed.

Lemma exp_two : exp (ln 2) = 2.
Proof. apply exp_ln. lra. Qed.

Lemma log_two_positive : 0 < ln 2.
Proof. rewrite <- ln_1. apply ln_increasing; lra. Qed.

Lemma prior_measure : measure 2 prior.
Proof.
  split; [intros [|i] _; cbn; lra|]. exists 0%nat. split; [lia|cbn; lra].
Qed.

Lemma equal_measure : measure 2 equal.
Proof.
  split; [intros [|i] _; cbn; lra|]. exists 0%nat. split; [lia|cbn; lra].
Qed.

Lemma P_values : P 0%nat = 2 / 5 /\ P 1%nat = 3 / 5.
Proof. unfold P, em, weight. cbn. rewrite double, single. split; lra. Qed.

Lemma Q_values : Q 0%nat = 1 / 4 /\ Q 1%nat = 3 / 4.
Proof. unfold Q, em, weight. cbn. rewrite single. split; lra. Qed.

Lemma one_higher : spread 2 prior 1 before after.
Proof. intros [|[|i]] [|[|j]] lt_i lt_j _ _; try lia; cbn; lra. Qed.

Example em_law_instance : law 2 P.
Proof. apply em_law. exact prior_measure. Qed.

Lemma Q_law : law 2 Q.
Proof. apply em_law. exact prior_measure. Qed.

Example em_of_gaps_instance : em 2 prior (ln 2) (fun i => after i - 1) 0 = 2 / 5.
Proof. rewrite em_of_gaps by exact prior_measure. apply P_values. Qed.

Example em_bounded_range_instance : bounded_range 2 (ln 2 * 1) P Q.
Proof.
  apply em_bounded_range; [exact prior_measure| |exact one_higher].
  left. exact log_two_positive.
Qed.

Example em_private_instance : private 2 (ln 2 * 1) P Q.
Proof.
  apply em_private; [exact prior_measure| |lra|exact one_higher].
  left. exact log_two_positive.
Qed.

Example range_is_logistic_instance : logistic 2 (ln 2 * 1) P Q.
Proof.
  apply range_is_logistic; [exact em_law_instance|exact Q_law|exact em_bounded_range_instance].
Qed.

Lemma epsilon_nonnegative : 0 <= ln 2 * 1.
Proof. pose proof log_two_positive. lra. Qed.

Example logistic_is_private_instance : private 2 (ln 2 * 1) P Q.
Proof.
  apply logistic_is_private; [exact epsilon_nonnegative|exact em_law_instance|exact Q_law|].
  exact range_is_logistic_instance.
Qed.

Example range_is_private_instance : private 2 (ln 2 * 1) P Q.
Proof.
  apply range_is_private; [exact epsilon_nonnegative|exact em_law_instance|exact Q_law|].
  exact em_bounded_range_instance.
Qed.

Example range_of_logarithms_instance : ln (P 0%nat / Q 0%nat) - ln (P 1%nat / Q 1%nat) <= ln 2 * 1.
Proof.
  apply range_of_logarithms with (n := 2%nat); [|exact em_bounded_range_instance|lia|lia].
  destruct P_values as [p0 p1], Q_values as [q0 q1].
  intros [|[|i]] lt; [rewrite p0, q0; lra|rewrite p1, q1; lra|lia].
Qed.

Lemma changes_within : forall i, (i < 2)%nat -> Rabs (after i - before i) <= 1.
Proof. intros [|i] _; cbn; apply Rabs_le; lra. Qed.

Example spread_of_sensitivity_instance : spread 2 prior (2 * 1) before after.
Proof. apply spread_of_sensitivity. exact changes_within. Qed.

Example spread_of_monotonic_instance : spread 2 prior 1 before after.
Proof. apply spread_of_monotonic. left. intros [|i] _; cbn; lra. Qed.

(* The distances of two points from a number: one grows by as much as the other falls. *)
Example em_balanced_instance :
  private 2 (ln 2 * 1) (em 2 equal (ln 2) (pair 0 1)) (em 2 equal (ln 2) (pair 1 0)).
Proof.
  apply em_balanced; [exact equal_measure|left; exact log_two_positive| |].
  - unfold weight. cbn. lra.
  - intros [|i] _; cbn; apply Rabs_le; lra.
Qed.

Definition steps (m : nat) : nat -> R := em 2 equal (ln 2) (pair (INR m) 0).

Lemma step_range : forall m, bounded_range 2 (ln 2 * 1) (steps m) (steps (S m)).
Proof.
  intros m. apply range_symmetric. apply em_bounded_range; [exact equal_measure| |].
  - left. exact log_two_positive.
  - intros [|[|i]] [|[|j]] lt_i lt_j _ _; try lia; unfold pair; rewrite ?S_INR; lra.
Qed.

Lemma step_law : forall m, law 2 (steps m).
Proof. intros m. apply em_law. exact equal_measure. Qed.

Example range_groups_instance : bounded_range 2 (INR 3 * (ln 2 * 1)) (steps 0) (steps 3).
Proof.
  apply range_groups with (x := steps); intros m le; [apply step_law|apply step_range].
Qed.

Example private_groups_instance : private 2 (INR 3 * (ln 2 * 1)) (steps 0) (steps 3).
Proof.
  apply private_groups with (x := steps). intros m lt.
  apply range_is_private; [exact epsilon_nonnegative|apply step_law|apply step_law|apply step_range].
Qed.

(* ---- What is wrong ---- *)

(* The constant of bounded range, whatever the spread and eta. *)
Lemma no_smaller_range :
  forall eta D c, 0 < eta -> 0 <= D -> c < eta * D ->
    exists s s', spread 2 equal D s s' /\ ~ bounded_range 2 c (em 2 equal eta s') (em 2 equal eta s).
Proof.
  intros eta D c eta0 D0 less. exists before, (pair D 0). split.
  { intros [|[|i]] [|[|j]] lt_i lt_j _ _; try lia; cbn; lra. }
  intros range. specialize (range 0%nat 1%nat ltac:(lia) ltac:(lia)).
  unfold em, weight in range. cbn in range. rewrite !Rmult_0_r, exp_0 in range.
  pose proof (exp_pos (eta * D)) as x0. set (x := exp (eta * D)) in *.
  assert (y : exp c < x) by (apply exp_increasing; exact less).
  assert (inv : 0 < / (x + 1)) by (apply Rinv_0_lt_compat; lra).
  replace (0 + 1 * x + 1 * 1) with (x + 1) in range by ring. unfold Rdiv in range.
  assert (exp c * / (x + 1) < x * / (x + 1)) by (apply Rmult_lt_compat_r; assumption).
  lra.
Qed.

(* Two candidates of equal weight, of which the first is far behind. *)
Lemma behind_value :
  forall eta t d, 0 < eta -> 0 < t ->
    em 2 equal eta (pair (ln t / eta + d) 0) 0 = t * exp (eta * d) / (t * exp (eta * d) + 1).
Proof.
  intros eta t d eta0 t0. unfold em, weight. cbn. rewrite Rmult_0_r, exp_0.
  replace (eta * (ln t / eta + d)) with (ln t + eta * d) by (field; lra).
  rewrite exp_plus, exp_ln by exact t0. f_equal; ring.
Qed.

(* The constant of epsilon-DP. *)
Lemma no_smaller_epsilon :
  forall eta D e, 0 < eta -> 0 < D -> e < eta * D ->
    exists s s', spread 2 equal D s s' /\
      exp e * prob 2 (em 2 equal eta s) (fun i => Nat.eqb i 0)
        < prob 2 (em 2 equal eta s') (fun i => Nat.eqb i 0).
Proof.
  intros eta D e eta0 D0 less.
  pose proof (exp_pos e) as y0. pose proof (exp_pos (eta * D)) as x0.
  assert (xy : exp e < exp (eta * D)) by (apply exp_increasing; exact less).
  set (x := exp (eta * D)) in *. set (y := exp e) in *.
  set (t := (x - y) / (2 * (x * y))).
  assert (xy0 : 0 < x * y) by (apply Rmult_lt_0_compat; assumption).
  assert (t0 : 0 < t) by (apply Rdiv_lt_0_compat; lra).
  assert (txy : t * (x * y) = (x - y) / 2) by (unfold t; field; split; lra).
  assert (tx : 0 < t * x) by (apply Rmult_lt_0_compat; assumption).
  exists (pair (ln t / eta + 0) 0), (pair (ln t / eta + D) 0). split.
  { intros [|[|i]] [|[|j]] lt_i lt_j _ _; try lia; cbn; lra. }
  unfold prob. cbn. rewrite !behind_value by assumption. fold x. rewrite Rmult_0_r, exp_0.
  apply Rmult_lt_reg_r with ((t * 1 + 1) * (t * x + 1)); [apply Rmult_lt_0_compat; lra|].
  replace (y * (0 + t * 1 / (t * 1 + 1) + 0) * ((t * 1 + 1) * (t * x + 1))) with (t * (t * (x * y) + y))
    by (field; lra).
  replace ((0 + t * x / (t * x + 1) + 0) * ((t * 1 + 1) * (t * x + 1))) with (t * (t * x + x))
    by (field; lra).
  apply Rmult_lt_compat_l; [exact t0|]. rewrite txy. lra.
Qed.

Lemma half_an_epsilon_is_not_private :
  exists s s', spread 2 equal 1 s s' /\ ~ private 2 (1 * 1 / 2) (em 2 equal 1 s') (em 2 equal 1 s).
Proof.
  destruct (no_smaller_epsilon 1 1 (1 * 1 / 2)) as [s [s' [close more]]]; try lra.
  exists s, s'. split; [exact close|]. intros priv. destruct (priv (fun i => Nat.eqb i 0)). lra.
Qed.

(* The sensitivity alone, where scores may move both ways. *)
Lemma sensitivity_is_not_the_spread :
  (forall i, (i < 2)%nat -> Rabs (pair 1 (-1) i - before i) <= 1) /\
  ~ spread 2 equal 1 before (pair 1 (-1)) /\
  ~ bounded_range 2 (ln 2 * 1) (em 2 equal (ln 2) (pair 1 (-1))) (em 2 equal (ln 2) before).
Proof.
  split; [intros [|i] _; cbn; apply Rabs_le; lra|split].
  - intros all. specialize (all 0%nat 1%nat ltac:(lia) ltac:(lia)). cbn in all. lra.
  - intros range. specialize (range 0%nat 1%nat ltac:(lia) ltac:(lia)).
    unfold em, weight in range. cbn in range.
    replace (ln 2 * -1) with (- (ln 2 * 1)) in range by ring.
    rewrite exp_Ropp, double, single in range. lra.
Qed.

(* Weights that depend on the data. *)
Lemma private_weights_are_wrong :
  ~ private 2 (ln 2 * 0) (em 2 (pair 2 1) (ln 2) before) (em 2 equal (ln 2) before).
Proof.
  intros priv. destruct (priv (fun i => Nat.eqb i 0)) as [up _]. unfold prob, em, weight in up.
  cbn in up. rewrite single in up. lra.
Qed.

(* The change of a score in place of the spread, for scores that are not balanced. *)
Lemma change_is_not_enough :
  (forall i, (i < 2)%nat -> Rabs (pair (-1) (-1) i - pair (-2) 0 i) <= 1) /\
  ~ private 2 (ln 2 * 1) (em 2 equal (ln 2) (pair (-1) (-1))) (em 2 equal (ln 2) (pair (-2) 0)).
Proof.
  split; [intros [|i] _; cbn; apply Rabs_le; lra|].
  intros priv. destruct (priv (fun i => Nat.eqb i 0)) as [up _]. unfold prob, em, weight in up.
  cbn in up.
  replace (ln 2 * -1) with (- (ln 2 * 1)) in up by ring.
  replace (ln 2 * -2) with (- (ln 2 * 1) + - (ln 2 * 1)) in up by ring.
  rewrite exp_plus, !exp_Ropp, double, single in up. lra.
Qed.

(* Not two probability laws: one twice the other. *)
Lemma unnormalised_is_not_private :
  bounded_range 1 0 (fun _ => 2) (fun _ => 1) /\ ~ private 1 0 (fun _ => 2) (fun _ => 1).
Proof.
  split.
  - intros i j _ _. rewrite exp_0. lra.
  - intros priv. destruct (priv (fun _ => true)) as [up _]. unfold prob in up. cbn in up.
    rewrite exp_0 in up. lra.
Qed.

(* k steps cost k epsilon, not one less. *)
Lemma groups_cost_all_their_steps : ~ bounded_range 2 (INR 2 * (ln 2 * 1)) (steps 0) (steps 3).
Proof.
  intros range. specialize (range 1%nat 0%nat ltac:(lia) ltac:(lia)).
  unfold steps, em, weight in range. cbn in range.
  replace (ln 2 * (1 + 1 + 1)) with (ln 2 * 1 + (ln 2 * 1 + ln 2 * 1)) in range by ring.
  replace ((1 + 1) * (ln 2 * 1)) with (ln 2 * 1 + ln 2 * 1) in range by ring.
  rewrite !exp_plus, double, single in range. lra.
Qed.
