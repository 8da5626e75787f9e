(* Numbers that meet all that the theorems of first_above ask for, and what is wrong with less. *)

From Coq Require Import Reals Lra Lia Arith.
From Coquelicot Require Import Coquelicot.
From Discreet Require Import FirstAbove.
Open Scope R_scope.

(* Rates 2 and 1, a share of 1/10, and counts that rise; a record comes that is below the third threshold and all after. *)
Definition counts (j : nat) : R := INR j - 3.
Definition has (j : nat) : bool := Nat.leb 2 j.
Definition with_one (j : nat) : R := counts j - 1 / 10 + (if has j then 1 else 0).
Definition moved (j : nat) : R := counts j + (if has j then 1 else 0).

Example chance_exists_instance : exists p, chance 2 (first 1 counts 4) p /\ 0 <= p <= 1.
Proof. apply chance_exists; [lra|apply first_is; lra]. Qed.

Example first_above_add_remove_instance :
  exists p p', chance 2 (first 1 counts 4) p /\ chance 2 (first 1 with_one 4) p' /\
    p <= exp (Rmax (2 * (1 - 1 / 10)) (2 * (1 / 10) + 1)) * p' /\
    p' <= exp (Rmax (2 * (1 - 1 / 10)) (2 * (1 / 10) + 1)) * p.
Proof.
  destruct (chance_exists 2 ltac:(lra) (first 1 counts 4)) as [p [is _]]; [apply first_is; lra|].
  destruct (chance_exists 2 ltac:(lra) (first 1 with_one 4)) as [p' [is' _]]; [apply first_is; lra|].
  exists p, p'. split; [exact is|split; [exact is'|]].
  assert (comes (1 / 10) counts with_one).
  { exists has. split; [|intros j; reflexivity].
    intros i j le. unfold has. rewrite !Nat.leb_le. lia. }
  destruct (first_above_add_remove 2 1 ltac:(lra) ltac:(lra) (1 / 10) counts with_one ltac:(lra) H) as [all _].
  apply (all 4%nat); assumption.
Qed.

Example first_above_replace_one_instance :
  exists p p', chance 2 (first 1 counts 4) p /\ chance 2 (first 1 moved 4) p' /\
    p <= exp (2 + 1) * p' /\ p' <= exp (2 + 1) * p.
Proof.
  destruct (chance_exists 2 ltac:(lra) (first 1 counts 4)) as [p [is _]]; [apply first_is; lra|].
  destruct (chance_exists 2 ltac:(lra) (first 1 moved 4)) as [p' [is' _]]; [apply first_is; lra|].
  exists p, p'. split; [exact is|split; [exact is'|]].
  assert (moves_down counts moved) by (exists has; intros j; reflexivity).
  destruct (first_above_replace_one 2 1 ltac:(lra) ltac:(lra) counts moved H) as [all _].
  apply (all 4%nat); assumption.
Qed.

(* ---- What is wrong with less: one threshold, and the answer that none is above ---- *)

Definition flat (c : R) (j : nat) : R := c.

Lemma none_of_one : forall r2 c z, passes r2 (flat c) 1 z = below r2 (z - c).
Proof. intros r2 c z. cbn [passes]. unfold flat. lra. Qed.

Lemma none_moves :
  forall r1 r2 c p p0, 0 < r1 -> 0 < r2 -> 0 <= c ->
    chance r1 (passes r2 (flat c) 1) p -> chance r1 (passes r2 (flat 0) 1) p0 -> p <= exp (- (r1 * c)) * p0.
Proof.
  intros r1 r2 c p p0 r10 r20 c0 [_ least] [above _].
  pose proof (fun g i z => passes_continuous r2 g i z) as cont.
  apply least. intros x [T [T0 ->]].
  assert (zero : forall b, 0 <= b <= c -> RInt (weighed r1 (passes r2 (flat c) 1)) 0 b = 0).
  { intros b [b0 bc].
    rewrite (RInt_ext _ (fun _ => 0)).
    - rewrite RInt_const. unfold scal. cbn. unfold mult. cbn. lra.
    - intros z inside. rewrite Rmin_left, Rmax_right in inside by lra.
      unfold weighed. rewrite none_of_one. unfold below. rewrite Rmax_left; [lra|].
      assert (1 <= exp (- (r2 * (z - c)))).
      { rewrite <- exp_0 at 1. apply exp_le. assert (0 <= r2 * (c - z)) by (apply Rmult_le_pos; lra). lra. }
      lra. }
  assert (p0_low : forall S, 0 <= S -> upto r1 (passes r2 (flat 0) 1) S <= p0).
  { intros S S0. apply above. exists S. split; [exact S0|reflexivity]. }
  assert (start : 0 <= p0).
  { apply Rle_trans with (upto r1 (passes r2 (flat 0) 1) 0); [|apply p0_low; lra].
    unfold upto. rewrite RInt_point. apply Rle_refl. }
  pose proof (exp_pos (- (r1 * c))) as factor.
  destruct (Rle_dec T c) as [early|late].
  - unfold upto. rewrite zero by lra. apply Rmult_le_pos; lra.
  - assert (parts : RInt (weighed r1 (passes r2 (flat c) 1)) 0 c + RInt (weighed r1 (passes r2 (flat c) 1)) c T
                    = RInt (weighed r1 (passes r2 (flat c) 1)) 0 T)
      by (apply (RInt_Chasles (V := R_CompleteNormedModule)); apply weighed_integrable; intros z; apply cont).
    unfold upto. rewrite <- parts, zero, Rplus_0_l by lra.
    pose proof (RInt_comp_lin (V := R_CompleteNormedModule) (weighed r1 (passes r2 (flat c) 1)) 1 c 0 (T - c)
      (weighed_integrable r1 _ _ _ (cont (flat c) 1%nat))) as lin.
    replace (1 * 0 + c) with c in lin by lra. replace (1 * (T - c) + c) with T in lin by lra.
    rewrite <- lin.
    apply Rle_trans with (exp (- (r1 * c)) * upto r1 (passes r2 (flat 0) 1) (T - c)).
    2: { apply Rmult_le_compat_l; [lra|]. apply p0_low. lra. }
    right. unfold upto.
    transitivity (RInt (fun z => scal (exp (- (r1 * c))) (weighed r1 (passes r2 (flat 0) 1) z)) 0 (T - c)).
    + apply RInt_ext. intros z _. unfold scal. cbn -[passes]. unfold mult. cbn -[passes]. unfold weighed.
      rewrite !none_of_one, Rminus_0_r. replace (1 * z + c - c) with z by lra.
      replace (- (r1 * (1 * z + c))) with (- (r1 * z) + - (r1 * c)) by lra. rewrite exp_plus. lra.
    + apply (RInt_scal (V := R_CompleteNormedModule)). apply weighed_integrable. intros z. apply cont.
Qed.

Lemma none_is_possible : forall r1 r2 p, 0 < r1 -> 0 < r2 -> chance r1 (passes r2 (flat 0) 1) p -> 0 < p.
Proof.
  intros r1 r2 p r10 r20 [above _].
  apply Rlt_le_trans with (upto r1 (passes r2 (flat 0) 1) 1).
  - unfold upto. apply RInt_gt_0; [lra| |].
    + intros z inside. unfold weighed. rewrite none_of_one, Rminus_0_r. unfold below.
      pose proof (exp_pos (- (r1 * z))).
      assert (exp (- (r2 * z)) < 1).
      { rewrite <- exp_0. apply exp_increasing. assert (0 < r2 * z) by (apply Rmult_lt_0_compat; lra). lra. }
      rewrite Rmax_right by lra. apply Rmult_lt_0_compat; [apply Rmult_lt_0_compat; lra|lra].
    + intros z _. apply weighed_continuous. intros y. apply passes_continuous.
  - apply above. exists 1. split; [lra|reflexivity].
Qed.

Lemma no_less :
  forall r1 r2 c bound, 0 < r1 -> 0 < r2 -> 0 <= c -> bound < r1 * c ->
    exists p p', chance r1 (passes r2 (flat 0) 1) p /\ chance r1 (passes r2 (flat c) 1) p' /\ p > exp bound * p'.
Proof.
  intros r1 r2 c bound r10 r20 c0 less.
  destruct (chance_exists r1 r10 (passes r2 (flat 0) 1)) as [p [is _]]; [apply none_is|].
  destruct (chance_exists r1 r10 (passes r2 (flat c) 1)) as [p' [is' _]]; [apply none_is|].
  exists p, p'. split; [exact is|split; [exact is'|]].
  pose proof (none_moves r1 r2 c p' p r10 r20 c0 is' is) as moved. pose proof (none_is_possible r1 r2 p r10 r20 is) as some.
  apply Rlt_gt. apply Rle_lt_trans with (exp bound * (exp (- (r1 * c)) * p)).
  - apply Rmult_le_compat_l; [left; apply exp_pos|exact moved].
  - rewrite <- Rmult_assoc, <- exp_plus. rewrite <- (Rmult_1_l p) at 2. apply Rmult_lt_compat_r; [exact some|].
    rewrite <- exp_0. apply exp_increasing. lra.
Qed.

(* Without the first of the two: rates 2 and 1, share 1/10, a record below the threshold. *)
Lemma the_level_counts :
  comes (1 / 10) (flat 0) (flat (9 / 10)) /\
  exists p p', chance 2 (passes 1 (flat 0) 1) p /\ chance 2 (passes 1 (flat (9 / 10)) 1) p' /\
    p > exp (2 * (1 / 10) + 1) * p'.
Proof.
  split; [exists (fun _ => true); split; [reflexivity|intros j; unfold flat; lra]|]. apply no_less; lra.
Qed.

(* Without the second: a share of 1, and a record above the threshold goes. *)
Lemma the_share_counts :
  comes 1 (flat 1) (flat 0) /\
  exists p p', chance 2 (passes 1 (flat 0) 1) p /\ chance 2 (passes 1 (flat 1) 1) p' /\ p > exp (2 * (1 - 1)) * p'.
Proof.
  split; [exists (fun _ => false); split; [discriminate|intros j; unfold flat; lra]|]. apply no_less; lra.
Qed.

(* A record replaced, with the rate of the thresholds alone. *)
Lemma the_level_counts_where_one_is_replaced :
  moves_down (flat 0) (flat 1) /\
  exists p p', chance 2 (passes 1 (flat 0) 1) p /\ chance 2 (passes 1 (flat 1) 1) p' /\ p > exp 1 * p'.
Proof.
  split; [exists (fun _ => true); intros j; unfold flat; lra|]. apply no_less; lra.
Qed.
