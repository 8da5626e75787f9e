(* Numbers that meet all that the theorems of the best cuts and of Polya's urn ask for; and what is wrong with other rules. *)

From Coq Require Import Reals Lra Lia ZArith List.
From Discreet Require Import Sums Records Rank JointQuantiles JointInstances JointCuts.
Import ListNotations.
Open Scope R_scope.

(* From 0 through [1, 2] and [-1, 0] back to 0. *)
Definition lows (j : nat) : R := match j with O => 1 | _ => - 1 end.
Definition highs (j : nat) : R := match j with O => 2 | _ => 0 end.
Definition other_stops (j : nat) : R := match j with O => 0 | 1%nat => 3 / 2 | _ => - 1 end.

Lemma stops_are : stops lows highs 1 = 1 /\ stops lows highs 2 = 0.
Proof.
  cbn [stops]. assert (one : nearest (lows 0) (highs 0) 0 = 1).
  { unfold nearest, lows, highs, Rmin, Rmax. destruct (Rle_dec 0 1); [destruct (Rle_dec 1 2)|]; lra. }
  rewrite one. split; [reflexivity|]. unfold nearest, lows, highs, Rmin, Rmax.
  destruct (Rle_dec 1 (- 1)); [lra|]. destruct (Rle_dec 1 0); lra.
Qed.

Lemma other_stops_within : forall j, (j < 2)%nat -> lows j <= other_stops (S j) <= highs j.
Proof. intros [|[|j]] less; cbn; try lra; lia. Qed.

Lemma ways : way (stops lows highs) 2 + Rabs (0 - stops lows highs 2) = 2 /\
  way other_stops 2 + Rabs (0 - other_stops 2) = 5.
Proof.
  destruct stops_are as [one two]. unfold way. cbn [sum]. rewrite one, two. cbn [stops other_stops].
  split; unfold Rabs; repeat match goal with |- context [Rcase_abs ?a] => destruct (Rcase_abs a) end; lra.
Qed.

Example shortest_way_instance :
  way (stops lows highs) 2 + Rabs (0 - stops lows highs 2) <= way other_stops 2 + Rabs (0 - other_stops 2).
Proof. apply shortest_way; [reflexivity|exact other_stops_within]. Qed.

(* The median of two records at one point is that point, at the loss 0. *)
Definition two_records : list Z := [7%Z; 7%Z].
Definition at_seven (j : nat) : Z := 7.

Lemma seven : lower two_records 7 = 0 /\ tied two_records 7 = 2 /\ number two_records = 2.
Proof. split; [|split]; reflexivity. Qed.

Example best_cuts_are_best_instance :
  best_cost 1 two_records halves at_seven = 0 /\ least 1 halves two_records at_seven 0.
Proof.
  assert (zero : best_cost 1 two_records halves at_seven = 0).
  { destruct seven as [L [E n]]. unfold best_cost, way. cbn [sum stops].
    assert (stay : nearest (offset_low two_records halves at_seven 0) (offset_high two_records halves at_seven 0) 0 = 0).
    { unfold offset_low, offset_high, wanted_up_to, halves, at_seven, least_cut, greatest_cut, nearest.
      rewrite L, E, n. cbn [sum]. destruct (Req_EM_T 2 0); [lra|].
      rewrite Rmax_left, Rmin_left; lra. }
    rewrite stay. rewrite !Rminus_0_r, Rabs_R0. lra. }
  split; [exact zero|]. rewrite <- zero.
  apply best_cuts_are_best; [exact halves_shares|]. intros j one less. unfold at_seven. lia.
Qed.

(* Two draws of two: (2, 0), (1, 1) and (0, 2), each once in three. *)
Definition one_each (x : nat) : nat := 1.
Definition first_twice (x : nat) : nat := match x with O => 2 | _ => 0 end.

Example urn_is_even_instance : urn 2 2 one_each = 1 / 3 /\ urn 2 2 first_twice = 1 / 3.
Proof.
  assert (chance : even_chance 2 2 = 1 / 3) by (cbn [even_chance]; rewrite !INR_IZR_INZ; cbn; lra).
  rewrite <- chance. split; apply urn_is_even; try lia; unfold copies_in_all; cbn; lra.
Qed.

Example even_chance_is_one_of_all_instance : even_chance 2 2 * Binomial.C (2 + 2 - 1) 2 = 1.
Proof. apply even_chance_is_one_of_all. lia. Qed.

(* ---- Other rules would be wrong ---- *)

(* To stop somewhere else in an interval makes the way longer. *)
Lemma to_move_farther_is_longer :
  ~ way other_stops 2 + Rabs (0 - other_stops 2) <= way (stops lows highs) 2 + Rabs (0 - stops lows highs 2).
Proof. destruct ways as [-> ->]. lra. Qed.

(* Independent draws, without copies: one of each is twice as likely as the first twice. *)
Lemma draws_without_copies_are_not_even : 2 * (1 / 2 * (1 / 2)) <> 1 / 3 /\ 1 / 2 * (1 / 2) <> 1 / 3.
Proof. split; lra. Qed.

(* A tied point that satisfies one cut alone, as an empty one does: the median of the two would be at the loss 2. *)
Lemma one_cut_of_a_tied_point_is_not_the_best :
  cost 1 halves (number two_records) (cut_at two_records (lower two_records 7)) = 2 /\
  ~ least 1 halves two_records at_seven 2.
Proof.
  destruct seven as [L [E n]]. split.
  - unfold cost, cell, halves. rewrite L, n. cbn. rewrite n.
    unfold Rabs. repeat match goal with |- context [Rcase_abs ?a] => destruct (Rcase_abs a) end; lra.
  - intros [wrong _]. destruct best_cuts_are_best_instance as [zero _].
    destruct (best_cuts_are_best 1 halves two_records at_seven halves_shares
      ltac:(intros j one less; unfold at_seven; lia)) as [fits [price _]].
    specialize (wrong _ fits). rewrite price, zero in wrong. lra.
Qed.
