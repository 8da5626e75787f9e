(* As Laplace noise, by numbers: permute-and-flip reaches the bound at an event of probability 1/2. *)

From Coq Require Import Reals Lra Lia.
From Discreet Require Import Sums Range RangeInstances Laplace Flip FlipPrivate FlipInstances FlipLaplace.
Open Scope R_scope.

Definition first (i : nat) : bool := Nat.eqb i 0.

Lemma a_half_shifted : forall e, 0 <= e -> laplace_shifted e (1 / 2) = 1 - exp (- e) / 2.
Proof.
  intros e e0. unfold laplace_shifted, quantile. destruct (Rle_dec (1 / 2) (1 / 2)) as [_|not]; [|lra].
  replace (2 * (1 / 2)) with 1 by field. rewrite ln_1, Rplus_0_l. unfold laplace.
  destruct (Rlt_dec e 0); [lra|reflexivity].
Qed.

Lemma first_values :
  prob 2 (pf 2 (ln 2) before) first = 1 / 2 /\ prob 2 (pf 2 (ln 2) after) first = 3 / 4.
Proof.
  unfold prob, first. cbn [sum Nat.eqb]. rewrite (proj1 pf_before), (proj1 pf_after). split; lra.
Qed.

Example laplace_of_quantile_instance : laplace (quantile (1 / 4)) = 1 / 4.
Proof. apply laplace_of_quantile. lra. Qed.

Example logistic_is_laplace_instance : as_laplace 2 (ln 2 * 1) P Q.
Proof.
  apply logistic_is_laplace; [exact epsilon_nonnegative|exact em_law_instance|exact Q_law|].
  exact range_is_logistic_instance.
Qed.

Example laplace_is_private_instance : private 2 (ln 2 * 1) P Q.
Proof.
  apply laplace_is_private; [exact epsilon_nonnegative|exact em_law_instance|exact Q_law|].
  exact logistic_is_laplace_instance.
Qed.

Example pf_is_laplace_instance : as_laplace 2 (ln 2 * 1) (pf 2 (ln 2) after) (pf 2 (ln 2) before).
Proof. apply pf_is_laplace; [exact log_two_positive|lra|exact one_ahead]. Qed.

(* ---- What is wrong ---- *)

(* The bound is reached, so nothing smaller serves. *)
Lemma the_laplace_bound_is_reached :
  prob 2 (pf 2 (ln 2) after) first = laplace_shifted (ln 2 * 1) (prob 2 (pf 2 (ln 2) before) first) /\
  forall e, 0 <= e < ln 2 -> ~ as_laplace 2 e (pf 2 (ln 2) after) (pf 2 (ln 2) before).
Proof.
  destruct first_values as [b a]. rewrite a, b. split.
  - rewrite a_half_shifted by exact epsilon_nonnegative. rewrite exp_Ropp, double. field.
  - intros e [e0 less] all. destruct (all first) as [[_ some] _]. rewrite a, b in some.
    specialize (some ltac:(lra)). rewrite a_half_shifted in some by exact e0.
    assert (exp (- ln 2) < exp (- e)) by (apply exp_increasing; lra).
    rewrite exp_Ropp, exp_two in H. lra.
Qed.

(* Its log-odds differ by more. *)
Lemma pf_is_not_logistic : ~ logistic 2 (ln 2 * 1) (pf 2 (ln 2) after) (pf 2 (ln 2) before).
Proof.
  intros odds. destruct (odds first) as [forth _]. destruct first_values as [b a].
  rewrite a, b, double in forth. lra.
Qed.

(* What is only epsilon-DP: randomised response. *)
Lemma epsilon_dp_is_not_laplace :
  private 2 (ln 2) (pair (2 / 3) (1 / 3)) (pair (1 / 3) (2 / 3)) /\
  ~ as_laplace 2 (ln 2) (pair (2 / 3) (1 / 3)) (pair (1 / 3) (2 / 3)).
Proof.
  split.
  - apply points_to_events. rewrite exp_two. intros [|i] _; cbn; lra.
  - intros all. destruct (all first) as [[_ some] _]. unfold prob, first in some. cbn in some.
    replace (0 + 1 / 3 + 0) with (1 / 3) in some by lra. specialize (some ltac:(lra)).
    destruct (shifted_cases (ln 2) (1 / 3)) as [_ [late _]]; [left; exact log_two_positive|lra|].
    rewrite exp_two in late. rewrite late in some by lra. lra.
Qed.
