(* Two answers of which the second depends on the first, by numbers; and what is wrong with smaller sums. *)

From Coq Require Import Reals Lra Lia List.
From Discreet Require Import Sums Range RangeInstances Rounds.
Import ListNotations.
Open Scope R_scope.

(* After a 0 the first question is asked again; after a 1 a fair coin is tossed, which is public. *)
Definition two (h : list nat) : nat := 2.
Definition coin (i : nat) : R := 1 / 2.
Definition asked (r : nat -> R) (h : list nat) : nat -> R :=
  match h with [] => r | O :: _ => r | _ => coin end.
Definition cost (h : list nat) : R :=
  match h with [] => ln 2 * 1 | O :: _ => ln 2 * 1 | _ => 0 end.

Lemma coin_law : law 2 coin.
Proof. split; [intros i _; unfold coin; lra|cbn; unfold coin; lra]. Qed.

Lemma two_answers :
  forall (promise : nat -> R -> (nat -> R) -> (nat -> R) -> Prop),
    promise 2%nat (ln 2 * 1) P Q -> promise 2%nat 0 coin coin ->
    adds_up promise 2 two cost (asked P) (asked Q) (2 * ln 2) [].
Proof.
  intros promise first toss. pose proof log_two_positive as l0. cbn [adds_up].
  split; [exact em_law_instance|split; [exact Q_law|split; [cbn; lra|split; [exact first|]]]].
  intros [|i] _; cbn.
  - split; [exact em_law_instance|split; [exact Q_law|split; [lra|split; [exact first|]]]]. intros; lra.
  - split; [exact coin_law|split; [exact coin_law|split; [lra|split; [exact toss|]]]]. intros; lra.
Qed.

Lemma summed : summed_range 2 two cost (asked P) (asked Q) (2 * ln 2).
Proof.
  apply two_answers; [exact em_bounded_range_instance|apply range_reflexive].
Qed.

Definition both_zero (h : list nat) : bool := match h with [O; O] => true | _ => false end.

Lemma both_zero_values :
  chance 2 two (asked P) both_zero = 4 / 25 /\ chance 2 two (asked Q) both_zero = 1 / 16.
Proof.
  unfold chance. cbn. destruct P_values as [p0 _], Q_values as [q0 _]. rewrite p0, q0. split; lra.
Qed.

Example summed_range_is_logistic_instance :
  4 / 25 * (1 - 1 / 16) <= exp (2 * ln 2) * (1 / 16 * (1 - 4 / 25)).
Proof.
  destruct both_zero_values as [p q]. rewrite <- p, <- q.
  exact (proj1 (summed_range_is_logistic _ _ _ _ _ _ both_zero summed)).
Qed.

Example summed_range_is_private_instance : 4 / 25 <= exp (2 * ln 2) * (1 / 16).
Proof.
  destruct both_zero_values as [p q]. rewrite <- p, <- q.
  exact (proj1 (summed_range_is_private _ _ _ _ _ _ both_zero summed)).
Qed.

Example private_composes_instance : 4 / 25 <= exp (2 * ln 2) * (1 / 16).
Proof.
  destruct both_zero_values as [p q]. rewrite <- p, <- q.
  assert (each : adds_up private 2 two cost (asked P) (asked Q) (2 * ln 2) []).
  { apply two_answers; [exact em_private_instance|]. intros E. rewrite exp_0. lra. }
  exact (proj1 (private_composes _ _ _ _ _ _ both_zero each)).
Qed.

Example histories_are_all_instance : chance 2 two (asked P) (fun _ => true) = 1.
Proof. exact (histories_are_all _ _ _ _ _ _ _ summed). Qed.

Example range_is_summed_instance :
  summed_range 1 (fun _ => 2%nat) (fun _ => ln 2 * 1) (fun _ => P) (fun _ => Q) (ln 2 * 1).
Proof.
  apply range_is_summed; [exact epsilon_nonnegative|exact em_law_instance|exact Q_law|exact em_bounded_range_instance].
Qed.

(* A fair coin says which of the candidates is called 0. *)
Definition turned (r : nat -> R) (i : nat) (j : nat) : R := match i with O => r j | _ => r (1 - j)%nat end.

Lemma turned_law : forall r i, law 2 r -> law 2 (turned r i).
Proof.
  intros r i [nonneg one]. destruct i as [|i]; [split; assumption|].
  split; [intros [|[|j]] lt; cbn; try lia; apply nonneg; lia|cbn in *; lra].
Qed.

Example mixed_range_is_summed_instance :
  summed_range 2 (mixed 2%nat (fun _ => 2%nat)) (mixed 0 (fun _ => ln 2 * 1)) (mixed coin (turned P)) (mixed coin (turned Q))
    (ln 2 * 1).
Proof.
  apply mixed_range_is_summed; [exact epsilon_nonnegative|exact coin_law|]. intros i _.
  split; [apply turned_law; exact em_law_instance|split; [apply turned_law; exact Q_law|]].
  pose proof em_bounded_range_instance as range.
  destruct i as [|i]; [exact range|]. intros [|[|j]] [|[|k]] lt_j lt_k; try lia; cbn; apply range; lia.
Qed.

(* ---- What is wrong ---- *)

(* Two answers of bounded range 1 are not e-differentially private for any e below 2. *)
Lemma no_smaller_sum :
  forall e, e < 2 ->
    exists p q, summed_range 2 two (fun _ => 1) p q 2 /\
      exp e * chance 2 two q both_zero < chance 2 two p both_zero.
Proof.
  intros e less. destruct (no_smaller_epsilon 1 1 (e / 2)) as [s [s' [close more]]]; try lra.
  set (p := em 2 equal 1 s') in *. set (q := em 2 equal 1 s) in *.
  assert (lp : law 2 p) by (apply em_law; exact equal_measure).
  assert (lq : law 2 q) by (apply em_law; exact equal_measure).
  assert (range : bounded_range 2 1 p q).
  { pose proof (em_bounded_range 2 equal 1 1 s s' equal_measure ltac:(lra) close) as one.
    rewrite Rmult_1_r in one. exact one. }
  exists (fun _ => p), (fun _ => q). split.
  - unfold summed_range. cbn [adds_up].
    split; [exact lp|split; [exact lq|split; [lra|split; [exact range|]]]]. intros i _.
    split; [exact lp|split; [exact lq|split; [lra|split; [exact range|]]]]. intros; lra.
  - unfold prob in more. cbn in more. unfold chance. cbn.
    replace e with (e / 2 + e / 2) by field. rewrite exp_plus.
    assert (q0 : 0 <= q 0%nat) by (apply lq; lia). pose proof (exp_pos (e / 2)) as e0.
    assert (yq : 0 <= exp (e / 2) * q 0%nat) by (apply Rmult_le_pos; lra).
    assert (square : (exp (e / 2) * q 0%nat) * (exp (e / 2) * q 0%nat) < p 0%nat * p 0%nat).
    { apply Rmult_le_0_lt_compat; lra. }
    lra.
Qed.

(* The whole need not have a bounded range of the sum: after different first answers the second may lean differently. *)
Definition other (r : nat -> R) (s : nat -> R) (h : list nat) : nat -> R :=
  match h with [] => r | O :: _ => r | _ => s end.
Definition high_prior : nat -> R := pair 3 1.
Definition P' : nat -> R := em 2 high_prior (ln 2) after.
Definition Q' : nat -> R := em 2 high_prior (ln 2) before.

Lemma high_measure : measure 2 high_prior.
Proof.
  split; [intros [|i] _; cbn; lra|]. exists 0%nat. split; [lia|cbn; lra].
Qed.

Lemma a_sum_of_ranges_is_no_bounded_range :
  summed_range 2 two (fun _ => ln 2 * 1) (other P P') (other Q Q') (2 * (ln 2 * 1)) /\
  ~ path (other P P') [0; 0]%nat * path (other Q Q') [1; 1]%nat <=
    exp (2 * (ln 2 * 1)) * (path (other P P') [1; 1]%nat * path (other Q Q') [0; 0]%nat).
Proof.
  assert (range' : bounded_range 2 (ln 2 * 1) P' Q').
  { apply em_bounded_range; [exact high_measure|left; exact log_two_positive|].
    intros [|[|i]] [|[|j]] lt_i lt_j _ _; try lia; cbn; lra. }
  assert (lp : law 2 P') by (apply em_law; exact high_measure).
  assert (lq : law 2 Q') by (apply em_law; exact high_measure).
  pose proof epsilon_nonnegative as e0. split.
  - unfold summed_range. cbn [adds_up].
    split; [exact em_law_instance|split; [exact Q_law|split; [exact e0|split; [exact em_bounded_range_instance|]]]].
    intros [|i] _; cbn.
    + split; [exact em_law_instance|split; [exact Q_law|split; [exact e0|split; [exact em_bounded_range_instance|]]]].
      intros; lra.
    + split; [exact lp|split; [exact lq|split; [exact e0|split; [exact range'|]]]]. intros; lra.
  - replace (2 * (ln 2 * 1)) with (ln 2 * 1 + ln 2 * 1) by ring. rewrite exp_plus, double. cbn.
    destruct P_values as [p0 p1], Q_values as [q0 q1]. rewrite p0, p1, q0, q1.
    unfold P', Q', em, weight. cbn. rewrite double, single. lra.
Qed.
