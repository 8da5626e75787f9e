(* Numbers that meet all that the theorems of ranks ask for, and reach their bounds; and what is wrong with constants a
   little smaller. *)

From Coq Require Import ZArith List Lia.
From Discreet Require Import Records Rank.
Import ListNotations.
Open Scope Z_scope.

(* Numbers for which an inequality is false. *)
Ltac refute H := first [apply H; reflexivity | apply (proj1 H); reflexivity | apply (proj2 H); reflexivity].

(* How far a score moves. *)
Definition move {A : Type} (score : A -> Z -> Z) (before after : A) (c : Z) : Z := score after c - score before c.

(* The lower quartile of three records, and one more: one score rises by 3, another falls by 3. *)
Example rank_add_remove_instance :
  more [0; 0; 0] [-2; 0; 0; 0] /\ move (rank_score 1 4) [0; 0; 0] [-2; 0; 0; 0] (-1) = 3 /\
  move (rank_score 1 4) [0; 0; 0] [-2; 0; 0; 0] 1 = -3 /\
  sensitivity one_apart any (rank_score 1 4) 3 6.
Proof.
  split; [apply more_head|]. split; [reflexivity|]. split; [reflexivity|]. apply (rank_add_remove 1 4). lia.
Qed.

Example rank_replace_one_instance :
  replaced [0; 5; 5; 5; 5; 5] [10; 5; 5; 5; 5; 5] /\
  move (rank_score 1 4) [0; 5; 5; 5; 5; 5] [10; 5; 5; 5; 5; 5] 9 = 4 /\
  move (rank_score 1 4) [0; 5; 5; 5; 5; 5] [10; 5; 5; 5; 5; 5] 1 = -4 /\
  sensitivity replaced any (rank_score 1 4) 4 8.
Proof.
  split; [exists [], 0, 10, [5; 5; 5; 5; 5]; split; reflexivity|].
  split; [reflexivity|]. split; [reflexivity|]. apply (rank_replace_one 1 4). lia.
Qed.

Example rank_is_tight_instance :
  exists before after c d, more before after /\
    (rank_score 1 2 after c - rank_score 1 2 before c) -
      (rank_score 1 2 after d - rank_score 1 2 before d) = 2.
Proof. destruct (rank_add_remove_is_tight 1 2 ltac:(lia)) as [a [b [c [d both]]]]. exists a, b, c, d. exact both. Qed.

Example rank_replace_one_is_tight_instance :
  exists before after c d, replaced before after /\
    (rank_score 1 2 after c - rank_score 1 2 before c) -
      (rank_score 1 2 after d - rank_score 1 2 before d) = 4.
Proof. destruct (rank_replace_one_is_tight 1 2 ltac:(lia)) as [a [b [c [d both]]]]. exists a, b, c, d. exact both. Qed.

(* The minimum, alpha = 0: a record at 2 that comes lowers the scores from 3 on, and no other. *)
Example rank_at_the_ends_instance :
  end_of_range 0 1 /\ move (rank_score 0 1) [5] [2; 5] 3 = -1 /\ move (rank_score 0 1) [5] [2; 5] 2 = 0 /\
  sensitivity one_apart any (rank_score 0 1) 1 1 /\ sensitivity replaced any (rank_score 0 1) 1 1.
Proof.
  split; [split; [reflexivity|left; reflexivity]|]. split; [reflexivity|]. split; [reflexivity|].
  apply (rank_at_the_ends 0 1). split; [reflexivity|left; reflexivity].
Qed.

Example rank_at_the_ends_is_monotonic_instance :
  monotonic one_apart any (rank_score 1 1) /\ monotonic replaced any (rank_score 1 1).
Proof. apply (rank_at_the_ends_is_monotonic 1 1). split; [reflexivity|right; reflexivity]. Qed.

(* Parts of four: a cut in the middle of a point. *)
Example cut_add_remove_instance :
  move (fun l k => cut_score 4 1 2 l (0, k)) [1; 1] [-1; 1; 1] 0 = 0 + 1 /\
  move (fun l k => cut_score 4 1 2 l (1, k)) [1; 1] [-1; 1; 1] 3 = -1 /\
  is_part 4 (0, 0) /\ is_part 4 (1, 3) /\
  sensitivity one_apart (is_part 4) (cut_score 4 1 2) 1 2.
Proof.
  split; [reflexivity|]. split; [reflexivity|]. unfold is_part. cbn [snd].
  split; [lia|]. split; [lia|]. apply (cut_add_remove 4 1 2). lia.
Qed.

Example cut_at_the_ends_instance :
  move (fun l k => cut_score 4 0 1 l (1, k)) [1] [0; 1] 2 = -1 /\
  monotonic one_apart (is_part 4) (cut_score 4 0 1) /\
  sensitivity one_apart (is_part 4) (cut_score 4 0 1) 1 1.
Proof.
  split; [reflexivity|]. apply (cut_at_the_ends 4 0 1). split; [reflexivity|left; reflexivity].
Qed.

Example cut_parts_instance :
  records_below 4 [7; 7; 9] 7 2 = [7] /\ records_above 4 [7; 7; 9] 7 2 = [7; 9] /\
  records_below 4 [7; 7; 7; 9] 7 2 = [7; 7] /\ records_above 4 [7; 7; 7; 9] 7 2 = [7; 9] /\
  one_side_more 4 [7; 7; 9] [7; 7; 7; 9] 7 2.
Proof.
  do 4 (split; [reflexivity|]). apply cut_parts; [lia|]. exists [], 7, [7; 7; 9]. split; reflexivity.
Qed.

Definition two_cuts : drawn := cut 7 2 (cut 7 1 nothing nothing) nothing.

Example level_parts_instance :
  level 4 1 two_cuts [7; 7; 9] = [[7]; [7; 9]] /\ level 4 1 two_cuts [7; 7; 7; 9] = [[7; 7]; [7; 9]] /\
  level 4 2 two_cuts [7; 7; 9] = [[]; [7]] /\ level 4 2 two_cuts [7; 7; 7; 9] = [[]; [7; 7]] /\
  all_parts 4 two_cuts.
Proof. do 4 (split; [reflexivity|]). cbn. lia. Qed.

Example median_distance_instance :
  more [1; 5] [0; 1; 5] /\ move median_distance [0; 5] [0; 5; 6] 3 = -1 /\
  move median_distance [0; 5] [0; 5; 6] 5 = 0 + 1.
Proof. split; [apply more_head|split; reflexivity]. Qed.

Example median_distance_replace_one_instance :
  replaced [0; 5] [7; 5] /\ move median_distance [0; 5] [7; 5] 2 = -2 /\
  move median_distance [0; 4; 5; 6; 7] [0; 4; 5; 6; 1] 4 = 2.
Proof. split; [exists [], 0, 7, [5]; split; reflexivity|split; reflexivity]. Qed.

(* ---- Constants a little smaller would be wrong ---- *)

Lemma the_smaller_of_p_and_q_minus_p_is_too_little :
  ~ sensitivity one_apart any (rank_score 1 4) 1 2.
Proof.
  intros wrong. destruct (wrong [0; 0; 0] [-2; 0; 0; 0]) as [each _]; [left; apply more_head|].
  specialize (each 1 I). refute each.
Qed.

Lemma one_change_is_no_spread_between_the_ends :
  ~ sensitivity one_apart any (rank_score 1 2) 1 1.
Proof.
  intros wrong. destruct (wrong [0] [2; 0]) as [_ pair]; [left; apply more_head|].
  specialize (pair 1 (-1) I I). refute pair.
Qed.

Lemma adding_and_removing_is_no_bound_on_replacing :
  ~ sensitivity replaced any (rank_score 1 2) 1 4.
Proof.
  intros wrong. destruct (wrong [0; 5; 5; 5] [10; 5; 5; 5]) as [each _];
    [exists [], 0, 10, [5; 5; 5]; split; reflexivity|].
  specialize (each 9 I). refute each.
Qed.

Lemma one_part_more_cuts_off_too_much : ~ cut_off 4 4 2 <= 2.
Proof. intros few. apply few. reflexivity. Qed.

(* A cut at the wanted rank, wherever that is among the records of a point: both sides change. *)
Definition wanted_below (records : list Z) (v : Z) : list Z :=
  filter (below v) records ++ copies (total records / 2 - tally (below v) records) v.

Definition wanted_above (records : list Z) (v : Z) : list Z :=
  copies (tally (equal v) records - (total records / 2 - tally (below v) records)) v ++ filter (above v) records.

Lemma a_cut_at_the_wanted_rank_changes_both_sides :
  more [5; 5; 5] [5; 5; 5; 9] /\
  wanted_below [5; 5; 5] 5 = [5] /\ wanted_above [5; 5; 5] 5 = [5; 5] /\
  wanted_below [5; 5; 5; 9] 5 = [5; 5] /\ wanted_above [5; 5; 5; 9] 5 = [5; 9].
Proof. split; [exists [5; 5; 5], 9, []; split; reflexivity|repeat split; reflexivity]. Qed.

Lemma median_distance_of_one_replaced_is_not_that_of_one_more :
  ~ sensitivity replaced any median_distance 1 2.
Proof.
  intros wrong. destruct (wrong [0; 5] [7; 5]) as [each _]; [exists [], 0, 7, [5]; split; reflexivity|].
  specialize (each 2 I). refute each.
Qed.
