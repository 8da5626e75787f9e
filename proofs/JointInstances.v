(* Shares and records that meet all that the theorems of joint quantiles ask for, and reach their bounds; and what is wrong
   with smaller constants. *)

From Coq Require Import Reals Lra Lia ZArith List.
From Discreet Require Import Sums Records Rank JointQuantiles JointTight.
Import ListNotations.
Open Scope R_scope.

(* The quantiles 1/10, 1/9 and 9/10: 9, 1, 71 and 9 of 90 records. *)
Definition cells (j : nat) : nat := match j with O => 9 | 1%nat => 1 | 2%nat => 71 | _ => 9 end.
Definition wanted (j : nat) : R := real cells j / 90.

(* The quantiles 1/3 and 7/20: 20, 1 and 39 of 60 records. *)
Definition other_cells (j : nat) : nat := match j with O => 20 | 1%nat => 1 | _ => 39 end.

(* The minimum alone, and one median. *)
Definition all_in_the_last (j : nat) : nat := match j with O => 0 | _ => 1 end.
Definition halves (j : nat) : R := 1 / 2.

Ltac count := unfold real, cells, other_cells, all_in_the_last; rewrite ?INR_IZR_INZ; cbn; try lra.

Lemma ninety : sum 4 (real cells) = 90.
Proof. cbn [sum]. count. Qed.

Lemma wanted_shares : shares 3 wanted.
Proof.
  split; [|cbn [sum]; unfold wanted; count]. intros [|[|[|[|j]]]] le; unfold wanted; count.
Qed.

Lemma wanted_below : below_shares 3 wanted (1 / 90) (1 / 90).
Proof.
  split; [lra|split; [lra|]]. intros [|[|[|[|j]]]] le; unfold wanted; (split; [|right]); count.
Qed.

Lemma halves_shares : shares 1 halves.
Proof. split; [intros j _; unfold halves; lra|cbn; unfold halves; lra]. Qed.

(* Two tuples and two datasets of 89 and 90 records on 9 points reach 178/45. *)
Example joint_add_remove_is_tight_instance :
  exists before after o o' v v' w w', more before after /\ ascending 3 o /\ ascending 3 o' /\
    least 3 wanted before o v /\ least 3 wanted after o w /\
    least 3 wanted before o' v' /\ least 3 wanted after o' w' /\
    (w - v) - (w' - v') = 178 / 45.
Proof.
  destruct (joint_add_remove_is_tight 3 cells 1 1 ltac:(lia) ltac:(lia) ltac:(cbn; lia))
    as [before [after [o [o' [v [v' [w [w' [near [up [up' [_ [_ [one [two [three [four apart]]]]]]]]]]]]]]]]].
  rewrite ninety in *. exists before, after, o, o', v, v', w, w'.
  do 7 (split; [assumption|]). rewrite apart. count.
Qed.

Example joint_add_remove_instance :
  shares 3 wanted /\ below_shares 3 wanted (1 / 90) (1 / 90) /\
  2 * (1 - 1 / 90) + 2 * (1 - 1 / 90) = 178 / 45.
Proof. split; [exact wanted_shares|split; [exact wanted_below|lra]]. Qed.

(* Both changes are reached in the same pair. *)
Example joint_one_more_instance :
  exists before after o o' v v' w w', more before after /\ ascending 3 o /\ ascending 3 o' /\
    least 3 wanted before o v /\ least 3 wanted after o w /\
    least 3 wanted before o' v' /\ least 3 wanted after o' w' /\
    w - v = 2 * (1 - 1 / 90) /\ w' - v' = - (2 * (1 - 1 / 90)).
Proof.
  destruct joint_add_remove_is_tight_instance
    as [before [after [o [o' [v [v' [w [w' [near [up [up' [one [two [three [four apart]]]]]]]]]]]]]]].
  exists before, after, o, o', v, v', w, w'. do 7 (split; [assumption|]).
  pose proof (joint_one_more 3 wanted _ _ before after o v w wanted_shares wanted_below up near one two).
  pose proof (joint_one_more 3 wanted _ _ before after o' v' w' wanted_shares wanted_below up' near three four).
  lra.
Qed.

Example joint_replace_one_is_tight_instance :
  exists before after o o' v v' w w', replaced before after /\ ascending 1 o /\ ascending 1 o' /\
    least 1 halves before o v /\ least 1 halves after o w /\
    least 1 halves before o' v' /\ least 1 halves after o' w' /\
    (w - v) - (w' - v') = 4.
Proof.
  apply (joint_replace_one_is_tight 1 halves 0 1 halves_shares); [lia|lia|unfold halves; lra|unfold halves; lra].
Qed.

Example joint_replace_one_instance :
  exists before after o o' v v' w w', replaced before after /\
    least 1 halves before o v /\ least 1 halves after o w /\
    least 1 halves before o' v' /\ least 1 halves after o' w' /\
    w - v = 2 /\ w' - v' = - 2.
Proof.
  destruct joint_replace_one_is_tight_instance
    as [before [after [o [o' [v [v' [w [w' [near [up [up' [one [two [three [four apart]]]]]]]]]]]]]]].
  exists before, after, o, o', v, v', w, w'. do 5 (split; [assumption|]).
  destruct (joint_replace_one 1 halves before after o o v v w w up up near one two one two) as [first _].
  destruct (joint_replace_one 1 halves before after o' o' v' v' w' w' up' up' near three four three four) as [second _].
  lra.
Qed.

(* ---- The minimum of one record, at 0 and at 9 ---- *)

Definition at_five (j : nat) : Z := 5.
Definition at_twenty (j : nat) : Z := 20.

Lemma least_of_one_record :
  forall x o, x <> o 1%nat -> least 1 only_last [x] o (2 * (if (x <? o 1%nat)%Z then 1 else 0)).
Proof.
  intros x o other. 
  assert (none : tied [x] (o 1%nat) = 0).
  { unfold tied, equal. cbn [tally]. destruct (Z.eqb_spec x (o 1%nat)); [contradiction|reflexivity]. }
  assert (some : exists c, cuts 1 [x] o c).
  { exists (cut_at [x] (least_cut [x] (o 1%nat))). apply cuts_of_one.
    split; [reflexivity|split; [reflexivity|apply satisfies_ends]]. }
  destruct (least_exists 1 only_last [x] o some) as [v least_v].
  pose proof (least_of_minimum [x] o v least_v) as value.
  replace (2 * (if (x <? o 1%nat)%Z then 1 else 0)) with v; [exact least_v|]. rewrite value.
  unfold least_cut. destruct (Req_EM_T (tied [x] (o 1%nat)) 0); [|contradiction].
  unfold lower, below. cbn [tally]. destruct (x <? o 1%nat)%Z; cbn; lra.
Qed.

Example least_exists_instance :
  least 1 only_last [0%Z] at_five 2 /\ least 1 only_last [9%Z] at_five 0 /\
  least 1 only_last [0%Z] at_twenty 2 /\ least 1 only_last [9%Z] at_twenty 2.
Proof.
  pose proof (least_of_one_record 0 at_five ltac:(unfold at_five; lia)) as one.
  pose proof (least_of_one_record 9 at_five ltac:(unfold at_five; lia)) as two.
  pose proof (least_of_one_record 0 at_twenty ltac:(unfold at_twenty; lia)) as three.
  pose proof (least_of_one_record 9 at_twenty ltac:(unfold at_twenty; lia)) as four.
  cbn in *. rewrite Rmult_1_r, Rmult_0_r in *. auto.
Qed.

Example joint_replace_one_at_the_ends_instance :
  replaced [9%Z] [0%Z] /\ (2 - 0) - (2 - 2) = 2 /\ (2 - 0) - (2 - 2) <= 2.
Proof.
  assert (near : replaced [9%Z] [0%Z]) by (exists [], 9%Z, 0%Z, []; split; reflexivity).
  split; [exact near|]. split; [lra|]. destruct least_exists_instance as [one [two [three four]]].
  apply (joint_replace_one_at_the_ends only_last [9%Z] [0%Z] at_five at_twenty 0 2 2 2);
    [left; reflexivity|exact near| | |assumption|assumption|assumption|assumption];
    intros j _ _; unfold at_five, at_twenty; lia.
Qed.

(* ---- Smaller constants would be wrong ---- *)

(* What a bound says of all neighbours and tuples. *)
Definition bounds (near : list Z -> list Z -> Prop) (m : nat) (t : nat -> R) (spread : R) : Prop :=
  forall before after o o' v v' w w', near before after -> ascending m o -> ascending m o' ->
    least m t before o v -> least m t after o w -> least m t before o' v' -> least m t after o' w' ->
    (w - v) - (w' - v') <= spread.

(* Databases of five records on four points reach 25/9, and no more. *)
Lemma what_five_records_reach_is_too_little : ~ bounds one_apart 3 wanted (25 / 9).
Proof.
  intros wrong. destruct joint_add_remove_is_tight_instance
    as [before [after [o [o' [v [v' [w [w' [near [up [up' [one [two [three [four apart]]]]]]]]]]]]]]].
  specialize (wrong before after o o' v v' w w' (or_introl near) up up' one two three four). lra.
Qed.

Lemma what_five_records_reach_of_two_is_too_little :
  ~ bounds one_apart 2 (fun j => real other_cells j / 60) (49 / 15).
Proof.
  intros wrong.
  destruct (joint_add_remove_is_tight 2 other_cells 1 1 ltac:(lia) ltac:(lia) ltac:(cbn; lia))
    as [before [after [o [o' [v [v' [w [w' [near [up [up' [_ [_ [one [two [three [four apart]]]]]]]]]]]]]]]]].
  assert (sixty : sum 3 (real other_cells) = 60) by (cbn [sum]; count). rewrite sixty in *.
  specialize (wrong before after o o' v v' w w' (or_introl near) up up' one two three four).
  rewrite apart in wrong. revert wrong. count.
Qed.

Lemma the_change_is_no_spread : ~ bounds one_apart 3 wanted (2 * (1 - 1 / 90)).
Proof.
  intros wrong. destruct joint_add_remove_is_tight_instance
    as [before [after [o [o' [v [v' [w [w' [near [up [up' [one [two [three [four apart]]]]]]]]]]]]]]].
  specialize (wrong before after o o' v v' w w' (or_introl near) up up' one two three four). lra.
Qed.

(* Shares above 0 alone, t = (0, 1): twice 2 (1 - 1). *)
Lemma shares_of_zero_count_when_a_record_comes :
  ~ bounds one_apart 1 (fun j => real all_in_the_last j / 1) (2 * (1 - 1) + 2 * (1 - 1)).
Proof.
  intros wrong.
  destruct (joint_add_remove_is_tight 1 all_in_the_last 0 1 ltac:(lia) ltac:(lia) ltac:(cbn; lia))
    as [before [after [o [o' [v [v' [w [w' [near [up [up' [_ [_ [one [two [three [four apart]]]]]]]]]]]]]]]]].
  assert (all : sum 2 (real all_in_the_last) = 1) by (cbn [sum]; count). rewrite all in *.
  specialize (wrong before after o o' v v' w w' (or_introl near) up up' one two three four).
  rewrite apart in wrong. revert wrong. count.
Qed.

Lemma two_is_no_spread_if_one_is_replaced : ~ bounds replaced 1 halves 2.
Proof.
  intros wrong. destruct joint_replace_one_is_tight_instance
    as [before [after [o [o' [v [v' [w [w' [near [up [up' [one [two [three [four apart]]]]]]]]]]]]]]].
  specialize (wrong before after o o' v v' w w' near up up' one two three four). lra.
Qed.

Lemma less_than_two_is_no_spread_of_a_minimum : ~ bounds replaced 1 only_last (3 / 2).
Proof.
  intros wrong. destruct least_exists_instance as [one [two [three four]]].
  assert (near : replaced [9%Z] [0%Z]) by (exists [], 9%Z, 0%Z, []; split; reflexivity).
  specialize (wrong [9%Z] [0%Z] at_five at_twenty 0 2 2 2 near
    ltac:(intros j _ _; unfold at_five; lia) ltac:(intros j _ _; unfold at_twenty; lia) two one four three). lra.
Qed.
