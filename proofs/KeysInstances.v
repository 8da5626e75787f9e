(* Numbers that meet all that the theorems of keys ask for: exp epsilon = 2 and delta = 1/20; and what is wrong with
   definitions a little different. *)

From Coq Require Import Reals Lra Lia Bool.
From Discreet Require Import Sums Keys.
Open Scope R_scope.

Notation shown := (pi 2 (1 / 20)).
Notation answered := (chance 2 (1 / 20)).

Ltac by_step previous :=
  match goal with |- pi ?e ?d (S ?n) = ?value => change (step e d (pi e d n) = value) end;
  rewrite previous; unfold step, Rmin; repeat destruct Rle_dec; lra.

Lemma shown_0 : shown 0 = 0.
Proof. reflexivity. Qed.
Lemma shown_1 : shown 1 = 1 / 20.
Proof. by_step shown_0. Qed.
Lemma shown_2 : shown 2 = 3 / 20.
Proof. by_step shown_1. Qed.
Lemma shown_3 : shown 3 = 7 / 20.
Proof. by_step shown_2. Qed.
Lemma shown_4 : shown 4 = 7 / 10.
Proof. by_step shown_3. Qed.
Lemma shown_5 : shown 5 = 7 / 8.
Proof. by_step shown_4. Qed.
Lemma shown_6 : shown 6 = 77 / 80.
Proof. by_step shown_5. Qed.
Lemma shown_7 : shown 7 = 1.
Proof. by_step shown_6. Qed.

Example pi_bounds_instance :
  shown 1 = 1 / 20 /\ shown 2 = 3 / 20 /\ shown 3 = 7 / 20 /\ shown 4 = 7 / 10 /\
  shown 5 = 7 / 8 /\ shown 6 = 77 / 80 /\ shown 7 = 1 /\ forall n, 0 <= shown n <= 1.
Proof.
  repeat apply conj.
  - exact shown_1.
  - exact shown_2.
  - exact shown_3.
  - exact shown_4.
  - exact shown_5.
  - exact shown_6.
  - exact shown_7.
  - intros n. apply pi_bounds; lra.
Qed.

Example pi_grows_instance : forall n, shown n <= shown (S n).
Proof. intros n. apply pi_grows; lra. Qed.

Example pi_private_instance : private_rule 2 (1 / 20) shown.
Proof. apply pi_private; lra. Qed.

(* Another rule that is allowed: sure from 20 units on. *)
Definition slow (n : nat) : R := Rmin 1 (INR n / 20).

Lemma slow_bounds : forall n, 0 <= slow n <= 1.
Proof.
  intros n. pose proof (pos_INR n). unfold slow. split; [apply Rmin_glb; lra|apply Rmin_l].
Qed.

Example pi_optimal_instance : forall n, slow n <= shown n.
Proof.
  apply pi_optimal; [lra|exact slow_bounds| |].
  - unfold slow. change (INR 0) with 0. rewrite Rmin_right; lra.
  - intros n. unfold slow. pose proof (pos_INR n). rewrite S_INR.
    unfold Rmin. repeat split; repeat destruct Rle_dec; lra.
Qed.

Example pi_is_one_instance : exists N, forall n, (N <= n)%nat -> shown n = 1.
Proof. apply pi_is_one; lra. Qed.

Example f_sums_instance : f 2 (1 / 20) 1 + f 2 (1 / 20) 2 + f 2 (1 / 20) 3 = 7 / 20.
Proof.
  pose proof (f_sums 2 (1 / 20) 3) as total. cbn [sum] in total. rewrite shown_3 in total. lra.
Qed.

Example chances_sum_to_one_instance : answered 4 (fun _ => true) = 1.
Proof. apply chances_sum_to_one. Qed.

Example shown_as_often_instance :
  answered 4 (fun answer => match answer with None => false | Some _ => true end) = 7 / 10.
Proof. rewrite shown_as_often. exact shown_4. Qed.

Example keys_up_instance : forall n event, answered (S n) event <= 2 * answered n event + 1 / 20.
Proof. intros n event. apply keys_up; lra. Qed.

Example keys_down_instance : forall n event, answered n event <= 2 * answered (S n) event + 1 / 20.
Proof. intros n event. apply keys_down; lra. Qed.

(* Of a key that needs three units at least. *)
Example keys_with_floor_instance :
  forall n event,
    answered (S n - 2) event <= 2 * answered (n - 2) event + 1 / 20 /\
    answered (n - 2) event <= 2 * answered (S n - 2) event + 1 / 20.
Proof. intros n event. apply keys_with_floor; lra. Qed.

Example delta_needed_instance :
  answered 4 (only (Some 3%nat)) = 1 / 20 /\ answered 3 (only (Some 3%nat)) = 0.
Proof. apply delta_needed; lra. Qed.

Example delta_needed_down_instance :
  exists n, answered n (only None) = 2 * answered (S n) (only None) + 1 / 20.
Proof. apply delta_needed_down; lra. Qed.

(* ---- What is wrong with definitions a little different ---- *)

Lemma no_smaller_delta :
  forall d, d < 1 / 20 -> exists n event, answered (S n) event > 2 * answered n event + d.
Proof.
  intros d less. exists 3%nat, (only (Some 3%nat)). destruct delta_needed_instance as [-> ->]. lra.
Qed.

Fixpoint cut (n : nat) : R := match n with O => 0 | S m => Rmin (2 * cut m + 1 / 20) 1 end.

Lemma cut_3 : cut 3 = 7 / 20.
Proof.
  assert (one : cut 1 = 1 / 20) by (change (Rmin (2 * 0 + 1 / 20) 1 = 1 / 20); rewrite Rmin_left; lra).
  assert (two : cut 2 = 3 / 20)
    by (change (Rmin (2 * cut 1 + 1 / 20) 1 = 3 / 20); rewrite one, Rmin_left; lra).
  change (Rmin (2 * cut 2 + 1 / 20) 1 = 7 / 20). rewrite two, Rmin_left; lra.
Qed.

Lemma without_the_second_part_is_wrong : ~ private_rule 2 (1 / 20) cut.
Proof.
  intros keeps. destruct (keeps 3%nat) as [_ [_ [second _]]]. revert second.
  assert (four : cut 4 = 3 / 4).
  { change (Rmin (2 * cut 3 + 1 / 20) 1 = 3 / 4). rewrite cut_3, Rmin_left; lra. }
  rewrite cut_3, four. lra.
Qed.

(* One unit more than seven twentieths: 27/40, where 28/40 is allowed. *)
Definition without_delta (x : R) : R := Rmin (Rmin (2 * x + 1 / 20) (1 - (1 - x) / 2)) 1.

Lemma delta_in_one_direction_alone_is_not_the_most : without_delta (shown 3) < shown 4.
Proof.
  rewrite shown_3, shown_4. unfold without_delta. rewrite Rmin_left; rewrite Rmin_right; lra.
Qed.

Lemma keys_that_nobody_has_have_no_most :
  private_rule 2 (1 / 20) (fun _ => 1) /\ ~ forall n, 1 <= shown n.
Proof.
  split; [intros n; cbv beta; repeat split; lra|]. intros wrong. specialize (wrong 0%nat). cbn [pi] in wrong. lra.
Qed.

Lemma one_count_further_is_no_probability :
  1 - shown 1 + sum 1 (fun i => f 2 (1 / 20) (2 - i)) > 1.
Proof. cbn [sum Nat.sub f]. rewrite shown_1, shown_2. lra. Qed.

(* For a delta above 1/2 the second direction needs less: with exp epsilon = 3 and delta = 3/5 it needs 2/5. *)
Lemma large_1 : pi 3 (3 / 5) 1 = 3 / 5.
Proof. by_step (eq_refl : pi 3 (3 / 5) 0 = 0). Qed.
Lemma large_2 : pi 3 (3 / 5) 2 = 1.
Proof. by_step large_1. Qed.

Lemma large_from_2 : forall n, pi 3 (3 / 5) (S (S n)) = 1.
Proof. induction n as [|n IH]; [exact large_2|]. by_step IH. Qed.

Lemma a_large_delta_is_not_needed_down :
  ~ exists n, chance 3 (3 / 5) n (only None) = 3 * chance 3 (3 / 5) (S n) (only None) + 3 / 5.
Proof.
  intros [n equal]. rewrite !chance_none in equal.
  destruct n as [|[|n]]; rewrite ?large_from_2, ?large_1 in equal; cbn [pi] in equal; lra.
Qed.
