(* Units that meet all that the theorems ask for, and reach their bounds; and what is wrong with definitions and constants a
   little different. *)

From Coq Require Import ZArith List Lia Bool.
From Discreet Require Import Records Rank CountsPerUnit.
Import ListNotations.
Open Scope Z_scope.

Ltac refute H := first [apply H; reflexivity | apply (proj1 H); reflexivity | apply (proj2 H); reflexivity].

(* Three of seven rows, s = 5: those at the places 1, 3 and 6. *)
Example rule_keeps_instance :
  map (stays 3 5 7) (places 7) = [false; true; false; true; false; false; true] /\
  tally (stays 3 5 (Z.of_nat 7)) (places 7) = Z.min 3 (Z.of_nat 7).
Proof. split; [reflexivity|]. apply rule_keeps; lia. Qed.

Example kept_rows_instance :
  kept 2 5 [10; 20; 30] = [20; 30] /\ kept 4 5 [10; 20; 30] = [10; 20; 30] /\
  Z.of_nat (length (kept 2 5 [10; 20; 30])) = Z.min 2 (Z.of_nat 3) /\ some_of (kept 2 5 [10; 20; 30]) [10; 20; 30].
Proof. split; [reflexivity|split; [reflexivity|]]. apply (kept_rows Z 2 5 [10; 20; 30]). lia. Qed.

Example bounded_table_instance :
  more [(5, [10; 20; 30])] [(5, [10; 20; 30]); (1, [7; 8; 9])] /\
  bounded 2 [(5, [10; 20; 30])] = [20; 30] /\
  bounded 2 [(5, [10; 20; 30]); (1, [7; 8; 9])] = [20; 30; 7; 8] /\
  unit_more 2 [20; 30] [20; 30; 7; 8].
Proof.
  assert (one : more [(5, [10; 20; 30])] [(5, [10; 20; 30]); (1, [7; 8; 9])])
    by (exists [(5, [10; 20; 30])], (1, [7; 8; 9]), []; split; reflexivity).
  split; [exact one|split; [reflexivity|split; [reflexivity|]]].
  apply (proj1 (bounded_table Z 2 _ _ ltac:(lia)) one).
Qed.

(* The median of users with two rows each: 2 rows of a user who comes move a score by 2, those of one replaced by 4. *)
Example unit_add_remove_instance :
  unit_more 2 [0; 0; 0] [7; 7; 0; 0; 0] /\
  rank_score 1 2 [7; 7; 0; 0; 0] 3 - rank_score 1 2 [0; 0; 0] 3 = 2 /\
  sensitivity (unit_more 2) any (rank_score 1 2) (2 * 1) (2 * 2).
Proof.
  split; [exists [], [7; 7], [0; 0; 0]; split; [reflexivity|split; [reflexivity|cbn; lia]]|].
  split; [reflexivity|]. apply unit_add_remove; [lia|lia|].
  intros before after near. apply (rank_add_remove 1 2 ltac:(lia)). left. exact near.
Qed.

Example unit_replace_one_instance :
  unit_replaced 2 [-9; -9; 0; 0; 0] [9; 9; 0; 0; 0] /\
  rank_score 1 2 [9; 9; 0; 0; 0] 3 - rank_score 1 2 [-9; -9; 0; 0; 0] 3 = 4 /\
  sensitivity (unit_replaced 2) any (rank_score 1 2) (2 * Z.max 1 2) (2 * Z.max 2 4).
Proof.
  split; [exists [], [-9; -9], [9; 9], [0; 0; 0];
    split; [reflexivity|split; [reflexivity|split; cbn; lia]]|].
  split; [reflexivity|]. apply unit_replace_one; [lia|lia|lia|lia| |apply (rank_replace_one 1 2); lia].
  intros before after near. apply (rank_add_remove 1 2 ltac:(lia)). left. exact near.
Qed.

Definition held (x c : Z) : bool := x =? c.

Example unit_is_monotonic_instance :
  forall c, any c -> counts held [4] c <= counts held [4; 5; 5] c.
Proof.
  apply (unit_is_monotonic Z Z any (counts held) 2).
  - intros before after near c _. pose proof (counts_rise Z Z held before after near c). lia.
  - exists [4], [5; 5], []. split; [reflexivity|split; [reflexivity|cbn; lia]].
Qed.

Example counts_rise_instance :
  more [4] [4; 5] /\ counts held [4; 5] 5 - counts held [4] 5 = 1 /\ counts held [4; 5] 4 - counts held [4] 4 = 0.
Proof. split; [exists [4], 5, []; split; reflexivity|split; reflexivity]. Qed.

Example counts_add_remove_instance :
  monotonic one_apart any (counts held) /\ sensitivity one_apart any (counts held) 1 1.
Proof. apply counts_add_remove. Qed.

Example stays_of_first_instance :
  tally (stays 3 5 7) (places 4) = ((4 - 1) * 3 + 5) / 7 - (5 - 3) / 7 /\ ((4 - 1) * 3 + 5) / 7 - (5 - 3) / 7 = 2.
Proof. split; [apply (stays_of_first 3 5 7 4); lia|reflexivity]. Qed.

Example counts_replace_one_instance :
  replaced [4] [5] /\ counts held [5] 5 - counts held [4] 5 = 1 /\ counts held [5] 4 - counts held [4] 4 = -1.
Proof. split; [exists [], 4, 5, []; split; reflexivity|split; reflexivity]. Qed.

(* A user with s = 5 who holds all of 1, 2, 3 counts for two of them. *)
Definition ann : Z * (Z -> bool) := (5, fun _ => true).

Example counts_moved_instance :
  map (holds_kept 2 [1; 2; 3] ann) [1; 2; 3] = [false; true; true] /\
  NoDup [1; 2; 3] /\
  tally (fun c => counts (holds_kept 2 [1; 2; 3]) [ann] c - counts (holds_kept 2 [1; 2; 3]) [] c =? 1) [1; 2; 3] = 2.
Proof.
  split; [reflexivity|split; [|reflexivity]]. repeat constructor; cbn; intuition discriminate.
Qed.

(* Two groups and two candidates; both users have rows in all cells, and count in one cell each. *)
Definition bob : Z * (Z -> Z -> bool) := (0, fun _ _ => true).
Definition eve : Z * (Z -> Z -> bool) := (1, fun _ _ => true).
Definition cells : list (Z * Z) := [(1, 1); (1, 2); (2, 1); (2, 2)].

Lemma cells_distinct : NoDup cells.
Proof. repeat constructor; cbn; intuition discriminate. Qed.

Definition differing (before after : list (Z * (Z -> Z -> bool))) : Z :=
  tally (fun cell => negb (counts (holds_cell 1 1 [1; 2] [1; 2]) after cell =?
    counts (holds_cell 1 1 [1; 2] [1; 2]) before cell)) cells.

Example cells_moved_instance :
  differing [] [bob] = 1 * 1 /\ differing [bob] [eve] = 2 * (1 * 1) /\
  differing [] [bob] <= 1 * 1 /\ differing [bob] [eve] <= 2 * (1 * 1).
Proof.
  split; [reflexivity|split; [reflexivity|]].
  split.
  - apply (cells_moved 1 1 [1; 2] [1; 2] cells [] [bob] ltac:(lia) ltac:(lia) cells_distinct).
    exists [], bob, []. split; reflexivity.
  - apply (cells_moved 1 1 [1; 2] [1; 2] cells [bob] [eve] ltac:(lia) ltac:(lia) cells_distinct).
    exists [], bob, eve, []. split; reflexivity.
Qed.

(* ---- Definitions and constants a little different would be wrong ---- *)

Lemma one_unit_more_is_no_bound_on_one_replaced : replaced [bob] [eve] /\ ~ differing [bob] [eve] <= 1 * 1.
Proof. split; [exists [], bob, eve, []; split; reflexivity|]. intros few. refute few. Qed.

Lemma not_above_k_keeps_one_row_more :
  tally (fun j => (j * 3 + 5) mod 7 <=? 3) (places 7) <> Z.min 3 7.
Proof. discriminate. Qed.

Lemma one_row_is_no_bound_for_two : ~ sensitivity (unit_more 2) any (rank_score 1 2) 1 2.
Proof.
  intros wrong. destruct (wrong [0; 0; 0] [7; 7; 0; 0; 0]) as [each _].
  - exists [], [7; 7], [0; 0; 0]. split; [reflexivity|split; [reflexivity|cbn; lia]].
  - specialize (each 3 I). refute each.
Qed.

(* A unit with fewer rows is not one with other rows: how many rows there are does not change if one is replaced. *)
Definition how_many (rows : list Z) (c : Z) : Z := total rows.

Lemma replacing_rows_is_no_bound_for_units :
  sensitivity replaced any how_many 0 0 /\ ~ sensitivity (unit_replaced 2) any how_many 0 0.
Proof.
  split.
  - change 0 with (2 * 0) at 2. apply sensitivity_of. intros before after [a [r [s [b [-> ->]]]]] c _.
    unfold how_many, total. rewrite !tally_app, !tally_cons. lia.
  - intros wrong. destruct (wrong [1] [1; 2]) as [each _].
    + exists [], [1], [1; 2], []. split; [reflexivity|split; [reflexivity|split; cbn; lia]].
    + specialize (each 0 I). refute each.
Qed.

(* Each row moves all scores the same way, but one up and another down: two of them do not. *)
Definition up_and_down (rows : list Z) (c : Z) : Z :=
  if c =? 0 then tally (fun x => 0 <? x) rows else - tally (fun x => x <? 0) rows.

Lemma rows_one_by_one_are_not_units :
  monotonic more any up_and_down /\ ~ monotonic (unit_more 2) any up_and_down.
Proof.
  split.
  - intros before after [a [r [b [-> ->]]]]. destruct (Z.le_gt_cases 0 r); [left|right]; intros c _;
      unfold up_and_down; rewrite !tally_app, !tally_cons; destruct (c =? 0), (Z.ltb_spec 0 r), (Z.ltb_spec r 0); lia.
  - intros wrong. destruct (wrong [] [1; -1]) as [up|down].
    + exists [], [1; -1], []. split; [reflexivity|split; [reflexivity|cbn; lia]].
    + specialize (up 1 I). refute up.
    + specialize (down 0 I). refute down.
Qed.

Lemma one_count_is_no_spread_if_one_is_replaced : ~ sensitivity replaced any (counts held) 1 1.
Proof.
  intros wrong. destruct (wrong [4] [5]) as [_ pair]; [exists [], 4, 5, []; split; reflexivity|].
  specialize (pair 5 4 I I). refute pair.
Qed.

Lemma fewer_counts_than_candidates_kept_are_too_few :
  ~ tally (fun c => counts (holds_kept 2 [1; 2; 3]) [ann] c - counts (holds_kept 2 [1; 2; 3]) [] c =? 1) [1; 2; 3] <= 1.
Proof. intros few. refute few. Qed.

(* Members alone would say neither the order nor how often each is there. *)
Lemma members_are_not_some_of_a_list :
  incl [30; 10] [10; 20; 30] /\ ~ some_of [30; 10] [10; 20; 30] /\ incl [10; 10] [10; 20; 30] /\ ~ some_of [10; 10] [10; 20; 30].
Proof.
  split; [intros x [<-|[<-|[]]]; cbn; auto|]. split; [|split; [intros x [<-|[<-|[]]]; cbn; auto|]];
    intros some; repeat match goal with H : some_of _ _ |- _ => inversion H; clear H; subst end.
Qed.
